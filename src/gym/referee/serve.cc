#include "gym/referee/serve.h"

#include <ATen/ATen.h>
#include <malloc.h>

#include "gym/jail/jail.h"
#include "gym/referee/evaluate_executor.h"
#include "gym/referee/referee.h"
#include "gym/wire/frame.h"

namespace tritonsmith::gym {
namespace {

// What libraries load lazily must be in before the jail closes: oneDNN's and MKL's tables,
// generators.
void warm_up() {
  const at::Tensor image = at::rand({1, 8, 16, 16});
  const at::Tensor filter = at::rand({8, 8, 3, 3});
  const at::Tensor matrix = at::rand({64, 64});
  static_cast<void>(at::conv2d(image, filter).sum().item<float>());
  static_cast<void>(at::mm(matrix, matrix).softmax(1).to(at::kBFloat16).sum().item<float>());
}

JailReport close_jail(int socket) {
  constexpr std::uint64_t never =
      1'000'000'000;  // many jobs share this process; its client watches the time
  return enter_jail({.role = JailRole::capture,
                     .keep_fds = {socket},
                     .cpu_seconds = never,
                     .memory_bytes = std::uint64_t{16} << 30,  // plans have a budget of their own
                     .required = {"rlimits", "no_new_privs"}});
}

Json reply_to(Referee& referee, const Json& head, std::string plan) {
  if (head.contains("add_task") && head["add_task"].is_string()) {
    const auto added = referee.add_task(head["add_task"].get<std::string>(), plan);
    return added ? Json{{"added", true}} : Json{{"error", added.error().message}};
  }
  if (!head.contains("judge")) return {{"error", "neither add_task nor judge"}};
  auto job = referee_job_from_json(head["judge"]);
  if (!job) return {{"error", job.error().message}};
  if (!referee.knows(job->task_key)) return {{"unknown_task", job->task_key}};
  job->candidate_plan = std::move(plan);
  return {{"report", to_json(referee.judge(*job))}};
}

}  // namespace

int serve_referee(int socket) {
  Referee referee(make_evaluate_executor());
  // Trials allocate and free the same few sizes for ever: keep them, instead of asking the kernel
  // each time.
  ::mallopt(M_MMAP_THRESHOLD, 1 << 28);
  ::mallopt(M_TRIM_THRESHOLD, 1 << 28);
  warm_up();
  const JailReport jail = close_jail(socket);
  if (!jail.refusal.empty()) {
    fmt::print(stderr, "referee: {}\n", jail.refusal);
    return 1;
  }
  if (!write_frame(socket, to_line({{"ready", jail.held()}}), Deadline::never())) return 1;
  while (true) {
    auto head = read_frame(socket, Deadline::never());
    if (!head) return head.error().fault == FrameFault::end ? 0 : 1;
    auto plan = read_frame(socket, Deadline::never());
    if (!plan) return 1;
    const auto json = parse_json(head->payload);
    const Json reply = json ? reply_to(referee, *json, std::move(plan->payload))
                            : Json{{"error", json.error().message}};
    if (!write_frame(socket, to_line(reply), Deadline::never())) return 1;
  }
}

}  // namespace tritonsmith::gym
