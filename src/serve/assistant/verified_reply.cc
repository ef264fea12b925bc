#include "serve/assistant/verified_reply.h"

#include "base/counted.h"
#include "curriculum/suite.h"

namespace tritonsmith::serve::assistant {
namespace {

using openai::CallError;
using openai::ReplyHead;

// The module in a message: its last code block that is one, or else the whole message.
std::string module_in(const std::string& message, const SearchOrder& order) {
  constexpr std::string_view fence = "```";
  std::string module = message;
  for (std::size_t at = message.find(fence); at != std::string::npos;) {
    const std::size_t begin = message.find('\n', at);
    const std::size_t end = begin == std::string::npos ? begin : message.find(fence, begin);
    if (end == std::string::npos) break;
    const std::string block = message.substr(begin + 1, end - begin - 1);
    const bool is_module =
        order.has_calls()
            ? block.find(order.name.empty() ? "Model" : order.name) != std::string::npos
            : curriculum::check_task_source(block).has_value();
    if (is_module) module = block;
    at = message.find(fence, end + fence.size());
  }
  return module;
}

class VerifiedReply : public openai::ReplyStream {
 public:
  VerifiedReply(Assistant& assistant, std::string search, std::string owner,
                const openai::ChatCall& call)
      : assistant_(assistant),
        search_(std::move(search)),
        owner_(std::move(owner)),
        is_streamed_(call.is_streamed),
        has_usage_(call.has_usage),
        head_(openai::make_head(openai::ReplyKind::chat, call.model)) {}
  ~VerifiedReply() override {
    const Status stopped = assistant_.stop(search_, owner_);
    CHECK(stopped.has_value(), "a search stops for its own owner");
  }

  State next(std::string& out, Deadline deadline) override {
    if (is_streamed_ && !std::exchange(has_begun_, true))
      out += openai::event_text(openai::first_part(head_, 0));
    const auto shown = assistant_.wait(search_, seen_, version_, deadline);
    if (!shown || !*shown) return State::broken;
    version_ = (**shown)["version"].get<std::uint64_t>();
    for (const Json& attempt : (**shown)["attempts"]) take(attempt, out);
    const Json& search = (**shown)["search"];
    if (search["state"] == "queued" || search["state"] == "running") return State::more;
    if (search["state"] == "failed" && !search["best"].is_number()) {
      const State broken = break_off(search["error"].get<std::string>());
      if (is_streamed_) out += openai::event_text(to_json(error()));
      return broken;
    }
    finish(search, out);
    return State::done;
  }

 private:
  void take(const Json& attempt, std::string& out) {
    seen_ = attempt["number"].get<int>() + 1;
    usage_.completion_tokens += attempt["tokens"].get<std::int64_t>();
    usage_.prompt_tokens += attempt.value("prompt_tokens", std::int64_t{0});
    const int turn = attempt["turn"].get<int>();
    const bool has_ideas = attempt["kind"] == "ideas";
    const std::string line = fmt::format(
        "Attempt {}{}. {}{}\n", seen_, turn > 0 ? fmt::format(", turn {}", turn + 1) : "",
        has_ideas ? "Ideas:\n" : "", attempt[has_ideas ? "text" : "words"].get<std::string>());
    reasoning_ += line;
    if (is_streamed_) out += openai::event_text(openai::reasoning_part(head_, 0, line));
  }

  void finish(const Json& search, std::string& out) {
    Json verdict;
    std::string text = fmt::format("No kernel was verified in {}.", counted(seen_, "attempt"));
    if (!search["error"].get<std::string>().empty())
      text += " " + search["error"].get<std::string>();
    if (search["best"].is_number()) {
      const auto best = assistant_.show(search_, search["best"].get<int>());
      if (best && *best) {
        const Json& attempt = (**best)["attempts"][0];
        verdict = attempt["verdict"];
        const std::string kernel = attempt["kernel"].get<std::string>();
        text = "```python\n" + kernel + (kernel.ends_with('\n') ? "```\n" : "\n```\n");
      }
    }
    const Json extension = {{"search", search_},
                            {"verdict", std::move(verdict)},
                            {"attempts", search["attempts"]},
                            {"accepted", search["accepted"]}};
    usage_.reasoning_tokens = 0;
    const openai::Choice choice{.text = text, .reasoning = reasoning_};
    if (!is_streamed_) {
      Json reply = openai::whole_reply(head_, {choice}, usage_);
      reply["tritonsmith"] = extension;
      out += to_line(reply);
      return;
    }
    out += openai::event_text(openai::text_part(head_, 0, text));
    Json last = openai::last_part(head_, choice);
    last["tritonsmith"] = extension;
    out += openai::event_text(last);
    if (has_usage_) out += openai::event_text(openai::usage_part(head_, usage_));
    out += openai::kStreamEnd;
  }

  Assistant& assistant_;
  std::string search_, owner_;
  bool is_streamed_, has_usage_;
  ReplyHead head_;
  int seen_ = 0;  // attempts
  std::uint64_t version_ = 0;
  std::string reasoning_;
  Usage usage_;
  bool has_begun_ = false;
};

}  // namespace

openai::CallResult<std::unique_ptr<openai::ReplyStream>> answer_verified(
    Assistant& assistant, const std::string& model, const openai::ChatCall& call,
    const std::string& owner) {
  const auto refuse = [](std::string message, std::string parameter) {
    return tl::unexpected(
        CallError{.message = std::move(message), .parameter = std::move(parameter)});
  };
  if (call.choices != 1) return refuse("'n' must be 1: a search has one result", "n");
  if (call.has_logprobs) return refuse("a search has no 'logprobs'", "logprobs");
  SearchOrder defaults{.enough = Enough::first, .temperature = call.sampling.temperature};
  if (call.seed) defaults.seed = *call.seed;
  auto order = order_from_json(call.extension, defaults);
  if (!order) return refuse(order.error().message, "tritonsmith");
  order->kind = SearchKind::write;
  order->model = model;
  order->source = module_in(call.messages.back().content, *order);
  const Status checked =
      order->has_calls() ? check_order(*order) : curriculum::check_task_source(order->source);
  if (!checked)
    return refuse(fmt::format("the last message must hold a PyTorch module in a code block, and "
                              "what it holds is none: {}",
                              checked.error().message),
                  "messages");
  const auto search = assistant.start(*std::move(order), owner, SearchLife::with_client);
  if (search) return std::make_unique<VerifiedReply>(assistant, *search, owner, call);
  CallError error{.message = search.error().message};
  if (search.error().kind == ErrorKind::fault) error.status = 429;
  return tl::unexpected(std::move(error));
}

}  // namespace tritonsmith::serve::assistant
