#include "serve/mcp/rpc_session.h"

#include "base/check.h"

namespace tritonsmith::serve::mcp {
namespace {

constexpr std::size_t kMostWaiting = 16;  // messages of a client that does not wait for answers
constexpr int kServerError = -32000;      // OpenEnv's, for a server without room

}  // namespace

std::optional<Json> RpcCall::begin(std::string_view text) {
  CHECK(!call_, "another message waits for its answer");
  const Message message = parse_message(text);
  if (const auto* error = std::get_if<RpcError>(&message)) return error_message(*error);
  const auto* request = std::get_if<Request>(&message);
  if (request == nullptr) return std::nullopt;
  McpServer::Answer answered = server_.answer(*request, submitter_);
  if (const auto* error = std::get_if<RpcError>(&answered)) return error_message(*error);
  if (auto* json = std::get_if<Json>(&answered)) return std::move(*json);
  call_ = std::move(std::get<std::unique_ptr<PendingCall>>(answered));
  return std::nullopt;
}

std::optional<Json> RpcCall::next(Milliseconds patience) {
  auto message = call_->next(patience);
  if (call_->is_done()) call_.reset();
  return message;
}

void RpcCall::cancel() {
  if (call_) call_->cancel();
  call_.reset();
}

void RpcSession::take(std::string text) {
  if (waiting_.size() >= kMostWaiting) is_over_ = true;
  waiting_.push_back(std::move(text));
}

std::optional<std::string> RpcSession::next(Milliseconds patience) {
  std::optional<Json> message;
  if (call_.is_waiting()) {
    message = call_.next(patience);
  } else if (!waiting_.empty()) {
    const std::string text = std::move(waiting_.front());
    waiting_.pop_front();
    message = call_.begin(text);
  }
  return message ? std::optional(to_line(*message)) : std::nullopt;
}

std::string RpcSession::no_room(int active, int most) const {
  return to_line(error_message(
      {.code = kServerError,
       .message = fmt::format("{} of at most {} sessions are open; try again later", active, most),
       .data = {{"active_sessions", active}, {"max_sessions", most}}}));
}

}  // namespace tritonsmith::serve::mcp
