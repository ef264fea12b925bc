#include "serve/mcp/mcp_routes.h"

#include <atomic>
#include <map>
#include <mutex>

#include "serve/mcp/rpc_session.h"

namespace tritonsmith::serve::mcp {
namespace {

using gym::service::HttpCall;
using gym::service::HttpReply;

constexpr const char* kSession = "mcp-session-id";

// The calls of legacy clients that wait, so that a notification can cancel them.
class CancelFlags {
 public:
  using Flag = std::shared_ptr<std::atomic<bool>>;

  Flag enter(const std::string& key) {
    const std::lock_guard lock(mutex_);
    return flags_[key] = std::make_shared<std::atomic<bool>>(false);
  }
  void leave(const std::string& key, const Flag& flag) {
    const std::lock_guard lock(mutex_);
    if (const auto at = flags_.find(key); at != flags_.end() && at->second == flag)
      flags_.erase(at);
  }
  void cancel(const std::string& key) {
    const std::lock_guard lock(mutex_);
    if (const auto at = flags_.find(key); at != flags_.end()) *at->second = true;
  }

 private:
  std::mutex mutex_;
  std::map<std::string, Flag> flags_;
};

// Messages to one client about one call.
class CallStream : public gym::service::ReplyStream {
 public:
  CallStream(std::unique_ptr<PendingCall> call, std::shared_ptr<CancelFlags> flags, std::string key)
      : call_(std::move(call)),
        flags_(std::move(flags)),
        key_(std::move(key)),
        cancelled_(flags_->enter(key_)) {}

  // A modern client that has gone wants nothing any more. A legacy one may come back.
  ~CallStream() override {
    flags_->leave(key_, cancelled_);
    if (call_->request().era == Era::modern) call_->cancel();
  }

  std::string next(Milliseconds patience) override {
    constexpr auto look_every = std::chrono::milliseconds(500);
    const Deadline deadline = Deadline::after(patience);
    while (!call_->is_done()) {
      if (*cancelled_) {
        call_->cancel();
        break;
      }
      if (const auto message = call_->next(std::min<Milliseconds>(patience, look_every)))
        return fmt::format("event: message\ndata: {}\n\n", to_line(*message));
      if (deadline.passed()) return ": still here\n\n";
    }
    return {};
  }

 private:
  std::unique_ptr<PendingCall> call_;
  std::shared_ptr<CancelFlags> flags_;
  std::string key_;
  CancelFlags::Flag cancelled_;
};

HttpReply error_reply(const RpcError& error) {
  return gym::service::json_reply(http_status_of(error), error_message(error));
}

std::string key_of(const HttpCall& call, const Json& id) {
  return fmt::format("{} {} {}", call.submitter.name, call.header(kSession), to_line(id));
}

// Waits for a client that cannot read a stream.
HttpReply wait_for(PendingCall& call) {
  while (true)
    if (const auto message = call.next(std::chrono::seconds(1)); call.is_done())
      return gym::service::json_reply(200, *message);
}

HttpReply answer(const McpServer& server, const std::shared_ptr<CancelFlags>& flags,
                 const HttpCall& call) {
  const Message message = parse_message(call.body, &call.headers);
  if (const auto* error = std::get_if<RpcError>(&message)) return error_reply(*error);
  if (const auto* notification = std::get_if<Notification>(&message)) {
    if (notification->method == "notifications/cancelled" &&
        notification->params.contains("requestId"))
      flags->cancel(key_of(call, notification->params["requestId"]));
    return {.status = 202};
  }
  const auto& request = std::get<Request>(message);
  McpServer::Answer answered = server.answer(request, call.submitter);
  if (const auto* error = std::get_if<RpcError>(&answered)) return error_reply(*error);
  if (const auto* json = std::get_if<Json>(&answered)) {
    HttpReply reply = gym::service::json_reply(200, *json);
    if (request.method == "initialize")
      reply.headers.emplace_back("Mcp-Session-Id", new_session_id());
    return reply;
  }
  auto& pending = std::get<std::unique_ptr<PendingCall>>(answered);
  if (call.header("accept").find("text/event-stream") == std::string::npos)
    return wait_for(*pending);
  HttpReply reply{.content_type = "text/event-stream", .headers = {{"X-Accel-Buffering", "no"}}};
  reply.stream = std::make_shared<CallStream>(std::move(pending), flags, key_of(call, request.id));
  return reply;
}

// A client that asks for the stream of a server's own messages must learn by status 405 that there is
// none. OpenEnv's clients ask for a WebSocket.
HttpReply open_web_socket(const McpServer& server, const HttpCall& call) {
  if (gym::service::lower_case(call.header("upgrade")) != "websocket") {
    HttpReply reply = gym::service::error_reply(405, "method_not_allowed",
                                                "/mcp has POST, and GET for a WebSocket only");
    reply.allow = "POST";
    return reply;
  }
  HttpReply reply;
  reply.web_socket = std::make_shared<RpcSession>(server, call.submitter);
  return reply;
}

}  // namespace

std::vector<gym::service::Route> mcp_routes(const McpServer& server) {
  return {{.method = "GET",
           .path = "/mcp",
           .answer = [&server](const HttpCall& call,
                               const auto&) { return open_web_socket(server, call); }},
          {.method = "POST",
           .path = "/mcp",
           .answer = [&server, flags = std::make_shared<CancelFlags>()](const HttpCall& call,
                                                                        const auto&) {
             if (gym::service::is_of_another_site(call))
               return gym::service::json_reply(
                   403, error_message({.code = kInvalidRequest,
                                       .message = "pages of other sites may not use this judge"}));
             return answer(server, flags, call);
           }}};
}

}  // namespace tritonsmith::serve::mcp
