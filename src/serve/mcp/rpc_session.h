// Speaks MCP over a connection that answers in order, as OpenEnv's clients do. RpcCall answers one message
// after another, also in OpenEnv's environments. RpcSession answers the messages of a WebSocket, one in
// each text. One thread owns each of them.
#pragma once

#include <deque>

#include "serve/mcp/server.h"

namespace tritonsmith::serve::mcp {

class RpcCall {
 public:
  RpcCall(const McpServer& server, gym::service::Submitter submitter)
      : server_(server), submitter_(std::move(submitter)) {}
  ~RpcCall() { cancel(); }
  RpcCall(const RpcCall&) = delete;
  RpcCall& operator=(const RpcCall&) = delete;

  // Takes a message while no other one waits. Returns its answer, or nothing for a notification, or
  // if a tool waits for a verdict.
  std::optional<Json> begin(std::string_view text);
  bool is_waiting() const { return call_ != nullptr; }
  // Returns the next message about the tool that waits: progress or the answer.
  std::optional<Json> next(Milliseconds patience);
  // The client no longer wants the answer.
  void cancel();
  // Forgets the tool that waits. Its job goes on.
  void leave() { call_.reset(); }

 private:
  const McpServer& server_;
  gym::service::Submitter submitter_;
  std::unique_ptr<PendingCall> call_;
};

class RpcSession : public gym::service::WebSocketSession {
 public:
  // The server must outlive the session.
  RpcSession(const McpServer& server, const gym::service::Submitter& submitter)
      : stopping_(server.stopping()), call_(server, submitter) {}

  void take(std::string text) override;
  std::optional<std::string> next(Milliseconds patience) override;
  bool is_busy() const override { return call_.is_waiting() || !waiting_.empty(); }
  bool is_over() const override { return is_over_ || stopping_.stop_requested(); }
  std::string no_room(int active, int most) const override;

 private:
  std::stop_token stopping_;
  RpcCall call_;
  std::deque<std::string> waiting_;
  bool is_over_ = false;
};

}  // namespace tritonsmith::serve::mcp
