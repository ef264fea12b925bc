#include "gym/judge/reference_relay.h"

#include "gym/referee/protocol/blocks.h"

namespace tritonsmith::gym::judge {
namespace {

Status answer_without_reference(int referee, const Json& answer, Deadline deadline) {
  if (auto sent = wire::write_frame(referee, to_line(answer), deadline); !sent)
    return fail("the referee took no answer: {}", sent.error().error.message);
  return ok();
}

// Relays only the members of a question. The source and the device come from this side.
Json for_reference(const RelayedQuestion& asked, const std::string& device) {
  Json request = {{"source", asked.task_source}, {"device", device}};
  for (const char* name : {"ask", "mode", "init_seed", "forward_seed", "oracle", "tensors",
                           "parameters", "inputs", "blocks"})
    if (asked.question.contains(name)) request[name] = asked.question[name];
  return request;
}

// The Python reference has the question. Its answer is relayed piece by piece.
Status pass_answer(const RelayedQuestion& asked, PythonReference& reference, int socket,
                   Deadline deadline) {
  const auto head = wire::read_frame(socket, deadline);
  if (!head) {
    const bool late = head.error().fault == wire::FrameFault::timeout;
    if (late) reference.end();
    const Json answer =
        late ? Json{{"error",
                     {{"class", name_of(ErrorClass::task_failed)},
                      {"message", fmt::format("forward did not end in {:.0f} s in the Python "
                                              "reference",
                                              asked.seconds)}}}}
             : reference.end_without_answer(asked.task_source, head.error().error.message);
    return answer_without_reference(asked.referee, answer,
                                    deadline.passed() ? Deadline::in_seconds(10) : deadline);
  }
  const auto json = parse_json(head->payload);
  const auto sizes = json ? referee::block_sizes(*json)
                          : Result<std::vector<std::size_t>>(tl::unexpected<Error>(json.error()));
  if (!sizes) {
    reference.end();
    return answer_without_reference(
        asked.referee,
        {{"error",
          {{"class", name_of(ErrorClass::task_failed)},
           {"message", "forward has no usable result: " + sizes.error().message}}}},
        deadline);
  }
  if (auto sent = wire::write_frame(asked.referee, head->payload, deadline); !sent)
    return fail("the referee took no answer: {}", sent.error().error.message);
  const referee::Passed passed = referee::pass_blocks(*sizes, socket, asked.referee, deadline);
  if (passed.read && passed.written) return ok();
  reference.end();  // it stopped in the middle of an answer
  return fail("the answer of the Python reference broke off");
}

}  // namespace

Status relay_to_reference(const RelayedQuestion& asked, PythonReference* reference) {
  TRY_ASSIGN(const std::vector<std::size_t> sizes, referee::block_sizes(asked.question));
  Result<int> socket = fail("there is no Python reference here");
  if (reference != nullptr) socket = reference->open();
  const Deadline deadline = Deadline::in_seconds(asked.seconds);
  if (reference != nullptr && socket) {
    const std::string request = to_line(for_reference(asked, reference->device()));
    if (!wire::write_frame(*socket, request, deadline)) {  // it died since the last question
      reference->end();
      socket = reference->open();
      if (socket && !wire::write_frame(*socket, request, deadline))
        socket = fail("it takes no question");
    }
  }
  const referee::Passed passed =
      referee::pass_blocks(sizes, asked.referee, socket ? *socket : -1, deadline);
  if (!passed.read) {
    if (reference != nullptr) reference->end();  // it stopped in the middle of a question
    return fail("the question to the Python reference broke off");
  }
  if (!socket)
    return answer_without_reference(asked.referee, {{"fault", socket.error().message}}, deadline);
  return pass_answer(asked, *reference, *socket, deadline);
}

}  // namespace tritonsmith::gym::judge
