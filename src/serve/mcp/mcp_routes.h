// Serves MCP over HTTP: POST /mcp, and GET /mcp for a WebSocket (rpc_session.h). A request is answered
// with JSON, or, while a job waits, with a stream of server-sent events: progress, then the response. A
// modern client cancels by closing the stream. A legacy client cancels by notifications/cancelled with
// the session that `initialize` gave it. Sessions hold nothing else, and a server that starts anew takes
// those of its predecessor.
#pragma once

#include <memory>
#include <vector>

#include "gym/service/routes/route_context.h"
#include "serve/mcp/server.h"

namespace tritonsmith::serve::mcp {

// The server must outlive the routes.
std::vector<gym::service::Route> mcp_routes(const McpServer& server);

}  // namespace tritonsmith::serve::mcp
