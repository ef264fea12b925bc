// McpServer: the judge as tools of the Model Context Protocol, whatever carries the messages. It
// answers most requests at once. A tool that waits for a verdict becomes a PendingCall, which its
// transport waits for, cancels, and tells the client about. Any thread; one thread owns a call.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <variant>

#include "serve/mcp/message.h"
#include "serve/mcp/tools.h"

namespace tritonsmith::serve::mcp {

class PendingCall {
 public:
  PendingCall(const gym::service::RouteContext& context, Request request, JudgingTool tool,
              gym::service::Submitter submitter);

  // Returns the next message for the client: its progress, where it asked for that, or the response,
  // after which is_done() holds. Returns nothing if `patience` ends first.
  std::optional<Json> next(Milliseconds patience);
  // The client no longer wants the result.
  void cancel();
  bool is_done() const { return is_done_; }
  const Request& request() const { return request_; }

 private:
  Request request_;
  JudgingTool tool_;
  JudgedJob job_;
  Stopwatch watch_;
  double told_seconds_ = 0;  // when the client last heard of its progress
  bool is_done_ = false;
};

class McpServer {
 public:
  McpServer(const gym::service::RouteContext& context, const Tools& tools)
      : context_(context), tools_(tools) {}

  using Answer = std::variant<Json, std::unique_ptr<PendingCall>, RpcError>;
  Answer answer(const Request& request, const gym::service::Submitter& submitter) const;

 private:
  Answer call_tool(const Request& request, const gym::service::Submitter& submitter) const;

  const gym::service::RouteContext& context_;
  const Tools& tools_;
};

}  // namespace tritonsmith::serve::mcp
