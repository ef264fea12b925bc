// ToolStep: a step that asks for the judge's tools, or calls one, in place of submitting a kernel:
// the actions `list_tools` and `call_tool` of OpenEnv's MCP clients. It needs no episode, is no turn
// and pays nothing. One thread owns it.
#pragma once

#include "serve/mcp/rpc_session.h"
#include "serve/openenv/environment.h"

namespace tritonsmith::serve::openenv {

class ToolStep {
 public:
  ToolStep(const mcp::McpServer& server, gym::service::Submitter submitter)
      : call_(server, std::move(submitter)) {}

  // Says whether an action is one of these.
  static bool is_meant(const Json& action);
  // Returns the observation, or nothing while the tool waits for a verdict.
  OrError<std::optional<Json>> begin(const Json& action);
  bool is_waiting() const { return call_.is_waiting(); }
  // Returns the observation, or nothing if `patience` ends first.
  std::optional<Json> await(Milliseconds patience);

 private:
  Json observation_of(const Json& message) const;

  mcp::RpcCall call_;
  std::string tool_;  // empty: the tools are listed
  Stopwatch watch_;
  double began_ = 0;
};

}  // namespace tritonsmith::serve::openenv
