// Speaks MCP over standard input and output, a message a line. One thread reads. Each tool that
// waits for a verdict has a thread of its own, so that a client may ask on, and cancel. It ends
// with the input.
#pragma once

#include <stop_token>

#include "base/fd.h"
#include "serve/mcp/server.h"

namespace tritonsmith::serve::mcp {

struct StdioConfig {
  int input = 0, output = 1;                       // file descriptors, which stay the caller's
  int calls = 64;                                  // that wait at a time; more are refused
  std::size_t line_bytes = std::size_t{32} << 20;  // of a message
};

// Serves until the input ends or `stop` is requested. Fails if the client does not read any more.
Status serve_stdio(const McpServer& server, const StdioConfig& config, std::stop_token stop);

}  // namespace tritonsmith::serve::mcp
