// Reads and writes the messages of the Model Context Protocol: JSON-RPC 2.0, in two eras. A modern
// request (revision 2026-07-28) carries its protocol version and the client's capabilities in
// `_meta`, and stands for itself. A legacy client sends `initialize` first (revisions 2024-11-05 to
// 2025-11-25). Pure functions of hostile bytes.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/json.h"

namespace tritonsmith::serve::mcp {

enum class Era { modern, legacy };

inline constexpr std::string_view kModernVersion = "2026-07-28";
std::vector<std::string> supported_versions();  // the newest first
// Returns the version that a legacy client asks for, or else the newest legacy version.
std::string legacy_version(const Json& params);

struct Request {
  Json id;  // a text or a whole number
  std::string method;
  Json params = Json::object();
  Era era = Era::legacy;
  Json progress_token;  // null: the client wants no progress
};
struct Notification {
  std::string method;
  Json params = Json::object();
};
struct RpcError {
  int code = 0;
  std::string message;
  Json id = nullptr;
  Json data = nullptr;
  Era era = Era::legacy;  // of the request at fault
};
using Message = std::variant<Request, Notification, RpcError>;

inline constexpr int kParseError = -32700, kInvalidRequest = -32600, kMethodNotFound = -32601,
                     kInvalidParams = -32602, kInternalError = -32603, kHeaderMismatch = -32020,
                     kUnsupportedVersion = -32022;

// Headers of HTTP, by name in lower case.
using Headers = std::map<std::string, std::string>;
// Parses and checks a message. Over HTTP, a modern request's headers must repeat what its body says.
Message parse_message(std::string_view text, const Headers* http_headers = nullptr);

// The messages that a server sends. A modern result gets `resultType` and the server's name.
Json result_message(const Request& request, Json result);
Json error_message(const RpcError& error);
Json progress_message(const Json& token, double progress, std::string_view message);
Json server_info();

// Returns the status of an HTTP reply with this error. A legacy client reads errors only in replies of status
// 200, and so do OpenEnv's clients and its validator. A modern one wants a status of HTTP's, too.
int http_status_of(const RpcError& error);

}  // namespace tritonsmith::serve::mcp
