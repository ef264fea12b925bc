// An environment over a WebSocket: messages {"type": reset | step | state | mcp | close, "data"} and
// answers {"type": observation | state | mcp | error, "data"}, one for each message, in order.
#include <deque>

#include "serve/openenv/openenv_routes.h"
#include "serve/openenv/tool_step.h"

namespace tritonsmith::serve::openenv {
namespace {

constexpr std::size_t kMostWaiting = 16;  // messages of a client that does not wait for answers

class Session : public gym::service::WebSocketSession {
 public:
  Session(const EnvironmentContext& context, const gym::service::Submitter& submitter,
          std::uint64_t number)
      : stopping_(context.context.stopping),
        environment_(context, submitter, number),
        tool_step_(context.mcp, submitter),
        rpc_(context.mcp, submitter) {}
  ~Session() override { environment_.cancel_step(); }

  void take(std::string text) override {
    if (waiting_.size() >= kMostWaiting) is_over_ = true;
    waiting_.push_back(std::move(text));
  }
  bool is_busy() const override { return is_waiting() || !waiting_.empty(); }
  bool is_over() const override { return is_over_ || stopping_.stop_requested(); }

  std::optional<std::string> next(Milliseconds patience) override {
    if (!is_waiting()) {
      if (waiting_.empty()) return std::nullopt;
      const std::string text = std::move(waiting_.front());
      waiting_.pop_front();
      auto answer = answer_to(text);
      if (!answer) return to_line(error_json(answer.error()));
      if (*answer) return to_line(**answer);
      if (!is_waiting()) return std::nullopt;
    }
    auto answer = await(patience);
    if (!answer) return to_line(error_json(answer.error()));
    return *answer ? std::optional(to_line(**answer)) : std::nullopt;
  }

  std::string no_room(int active, int most) const override {
    Json error =
        error_json({.code = ErrorCode::capacity_reached,
                    .message = fmt::format(
                        "{} of at most {} environments are open; try again later", active, most)});
    error["data"]["active_sessions"] = active;
    error["data"]["max_sessions"] = most;
    return to_line(error);
  }

 private:
  static Json error_json(const EnvironmentError& error) {
    return {{"type", "error"},
            {"data", {{"message", error.message}, {"code", name_of(error.code)}}}};
  }

  static Json message_of(const char* type, Json data) {
    return {{"type", type}, {"data", std::move(data)}};
  }

  // Tells whether a judge works on the message that was read last.
  bool is_waiting() const {
    return environment_.is_judging() || tool_step_.is_waiting() || rpc_.is_waiting();
  }

  // Returns the answer to that message, or nothing if `patience` ends first.
  OrError<std::optional<Json>> await(Milliseconds patience) {
    if (rpc_.is_waiting()) {
      auto message = rpc_.next(patience);
      if (!message || rpc_.is_waiting()) return std::optional<Json>();  // progress is no answer
      return std::optional(message_of("mcp", *std::move(message)));
    }
    auto ended = environment_.is_judging()
                     ? environment_.await_step(patience)
                     : OrError<std::optional<Json>>(tool_step_.await(patience));
    if (!ended || !*ended) return ended;
    return std::optional(message_of("observation", **std::move(ended)));
  }

  // OpenEnv's client waits for an answer to every message, and so to a notification, too.
  std::optional<Json> answer_to_rpc(const Json& data) {
    auto answer = rpc_.begin(to_line(data));
    if (!answer && rpc_.is_waiting()) return std::nullopt;
    if (!answer)
      answer = mcp::error_message(
          {.code = mcp::kInvalidRequest, .message = "in an environment a message needs an id"});
    return message_of("mcp", *std::move(answer));
  }

  // Returns nothing for a message that a judge is working on.
  OrError<std::optional<Json>> answer_to(const std::string& text) {
    const auto message = parse_json(text);
    if (!message)
      return tl::unexpected<EnvironmentError>(
          {.code = ErrorCode::invalid_json, .message = message.error().message});
    const Json type = message->is_object() ? message->value("type", Json()) : Json();
    const Json data = message->is_object() ? message->value("data", Json::object()) : Json();
    if (type == "reset") {
      auto begun = environment_.reset(data);
      if (!begun) return tl::unexpected(begun.error());
      return std::optional(message_of("observation", *std::move(begun)));
    }
    if (type == "step") {
      auto ended =
          ToolStep::is_meant(data) ? tool_step_.begin(data) : environment_.begin_step(data);
      if (!ended || !*ended) return ended;
      return std::optional(message_of("observation", **std::move(ended)));
    }
    if (type == "mcp") return answer_to_rpc(data);
    if (type == "state") return std::optional(message_of("state", environment_.state()));
    is_over_ = type == "close";
    if (is_over_) return std::optional<Json>();
    return tl::unexpected<EnvironmentError>(
        {.code = ErrorCode::unknown_type,
         .message =
             "type is reset, step, state, mcp or close, not " + to_line(type).substr(0, 100)});
  }

  std::stop_token stopping_;
  KernelEnvironment environment_;
  ToolStep tool_step_;
  mcp::RpcCall rpc_;
  std::deque<std::string> waiting_;
  bool is_over_ = false;
};

}  // namespace

std::shared_ptr<gym::service::WebSocketSession> environment_session(
    const EnvironmentContext& context, const gym::service::Submitter& submitter,
    std::uint64_t number) {
  return std::make_shared<Session>(context, submitter, number);
}

}  // namespace tritonsmith::serve::openenv
