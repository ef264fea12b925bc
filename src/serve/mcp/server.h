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

// The judge that calls wait for. A call ends without a result if no judge takes jobs for so long, or
// at once if the judge does not start: an agent that waits learns nothing from it.
struct AwaitedJudge {
  const gym::service::RouteContext& context;
  double patience_seconds = 100;
};

class PendingCall {
 public:
  PendingCall(const AwaitedJudge& judge, Request request, JudgingTool tool,
              gym::service::Submitter submitter);

  // Returns the next message for the client: its progress, where it asked for that, or the response,
  // after which is_done() holds. Returns nothing if `patience` ends first.
  std::optional<Json> next(Milliseconds patience);
  // The client no longer wants the result.
  void cancel();
  bool is_done() const { return is_done_; }
  const Request& request() const { return request_; }

 private:
  // Returns why waiting longer is of no use, or "".
  std::string why_to_give_up();

  AwaitedJudge judge_;
  Request request_;
  JudgingTool tool_;
  JudgedJob job_;
  Stopwatch watch_;
  std::optional<double> looked_seconds_;   // when it last asked whether a judge takes jobs
  std::optional<double> unready_seconds_;  // since when none does
  double told_seconds_ = 0;                // when the client last heard of its progress
  bool is_done_ = false;
};

class McpServer {
 public:
  McpServer(const AwaitedJudge& judge, const Tools& tools) : judge_(judge), tools_(tools) {}

  using Answer = std::variant<Json, std::unique_ptr<PendingCall>, RpcError>;
  Answer answer(const Request& request, const gym::service::Submitter& submitter) const;
  // Requested when the service ends.
  std::stop_token stopping() const { return judge_.context.stopping; }

 private:
  Answer call_tool(const Request& request, const gym::service::Submitter& submitter) const;

  AwaitedJudge judge_;
  const Tools& tools_;
};

// Returns a name for a session, which nobody can guess.
std::string new_session_id();

}  // namespace tritonsmith::serve::mcp
