// An environment over a WebSocket: messages {"type": reset | step | state | close, "data"} and
// answers {"type": observation | state | error, "data"}, one for each message, in order.
#include <deque>

#include "serve/openenv/openenv_routes.h"

namespace tritonsmith::serve::openenv {
namespace {

constexpr std::size_t kMostWaiting = 16;  // messages of a client that does not wait for answers

class Session : public gym::service::WebSocketSession {
 public:
  Session(const EnvironmentContext& context, const gym::service::Submitter& submitter,
          std::uint64_t number)
      : stopping_(context.context.stopping), environment_(context, submitter, number) {}
  ~Session() override { environment_.cancel_step(); }

  void take(std::string text) override {
    if (waiting_.size() >= kMostWaiting) is_over_ = true;
    waiting_.push_back(std::move(text));
  }
  bool is_busy() const override { return environment_.is_judging() || !waiting_.empty(); }
  bool is_over() const override { return is_over_ || stopping_.stop_requested(); }

  std::optional<std::string> next(Milliseconds patience) override {
    if (!environment_.is_judging()) {
      if (waiting_.empty()) return std::nullopt;
      const std::string text = std::move(waiting_.front());
      waiting_.pop_front();
      auto answer = answer_to(text);
      if (!answer) return to_line(error_json(answer.error()));
      if (*answer) return to_line(**answer);
      if (is_over_) return std::nullopt;
    }
    auto step = environment_.await_step(patience);
    if (!step) return to_line(error_json(step.error()));
    if (!*step) return std::nullopt;
    return to_line({{"type", "observation"}, {"data", **step}});
  }

 private:
  static Json error_json(const EnvironmentError& error) {
    return {{"type", "error"},
            {"data", {{"message", error.message}, {"code", name_of(error.code)}}}};
  }

  // Returns nothing for a step that a judge is working on.
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
      return std::optional<Json>({{"type", "observation"}, {"data", *std::move(begun)}});
    }
    if (type == "step") {
      auto ended = environment_.begin_step(data);
      if (!ended || !*ended) return ended;
      return std::optional<Json>({{"type", "observation"}, {"data", **std::move(ended)}});
    }
    if (type == "state")
      return std::optional<Json>({{"type", "state"}, {"data", environment_.state()}});
    is_over_ = type == "close";
    if (is_over_) return std::optional<Json>();
    return tl::unexpected<EnvironmentError>(
        {.code = ErrorCode::unknown_type,
         .message = "type is reset, step, state or close, not " + to_line(type).substr(0, 100)});
  }

  std::stop_token stopping_;
  KernelEnvironment environment_;
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
