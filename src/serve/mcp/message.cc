#include "serve/mcp/message.h"

#include <algorithm>
#include <array>

#include "base/base64.h"

namespace tritonsmith::serve::mcp {
namespace {

constexpr std::string_view kVersionKey = "io.modelcontextprotocol/protocolVersion";
constexpr std::string_view kCapabilitiesKey = "io.modelcontextprotocol/clientCapabilities";
constexpr std::array<std::string_view, 4> kLegacyVersions = {"2025-11-25", "2025-06-18",
                                                             "2025-03-26", "2024-11-05"};

std::string header(const Headers& headers, const std::string& name) {
  const auto at = headers.find(name);
  return at == headers.end() ? std::string() : at->second;
}

// The era of a message as its headers tell it.
Era era_of(const Headers* headers) {
  const bool is_modern =
      headers != nullptr && header(*headers, "mcp-protocol-version") == kModernVersion;
  return is_modern ? Era::modern : Era::legacy;
}

// Decodes "=?base64?...?=", the form of a value that no header can hold as it is.
std::optional<std::string> decoded(const std::string& value) {
  constexpr std::string_view open = "=?base64?", close = "?=";
  if (!value.starts_with(open) || !value.ends_with(close) ||
      value.size() < open.size() + close.size())
    return value;
  auto bytes = base64_decode(
      std::string_view(value).substr(open.size(), value.size() - open.size() - close.size()));
  if (!bytes) return std::nullopt;
  return *std::move(bytes);
}

// Returns what the headers say otherwise than the body, or "".
std::string header_mismatch(const Headers& headers, const Request& request,
                            const std::string& version) {
  if (header(headers, "mcp-protocol-version") != version)
    return fmt::format("the header MCP-Protocol-Version must be '{}', as _meta says", version);
  if (header(headers, "mcp-method") != request.method)
    return fmt::format("the header Mcp-Method must be '{}', as in the body", request.method);
  if (request.method != "tools/call") return "";
  const auto named = request.params.find("name");
  const auto shown = decoded(header(headers, "mcp-name"));
  if (named == request.params.end() || !named->is_string() || !shown ||
      *shown != named->get_ref<const std::string&>())
    return "the header Mcp-Name must be the same as params.name";
  return "";
}

RpcError refusal(const Request& request, int code, std::string message, Json data = nullptr) {
  return {.code = code,
          .message = std::move(message),
          .id = request.id,
          .data = std::move(data),
          .era = request.era};
}

// Checks what a modern request must carry, and sets the era. A legacy request passes.
std::optional<RpcError> check_era(const Headers* headers, Request& request) {
  const Json meta = request.params.value("_meta", Json::object());
  const bool in_meta = meta.is_object() && meta.contains(kVersionKey);
  request.era = in_meta ? Era::modern : era_of(headers);
  if (meta.is_object() && meta.contains("progressToken")) {
    request.progress_token = meta["progressToken"];
    if (!request.progress_token.is_string() && !request.progress_token.is_number_integer())
      return refusal(request, kInvalidParams,
                     "_meta.progressToken must be a text or a whole number");
  }
  if (request.era == Era::legacy) return std::nullopt;
  for (const std::string_view key : {kVersionKey, kCapabilitiesKey})
    if (!meta.is_object() || !meta.contains(key))
      return refusal(request, kInvalidParams, fmt::format("params._meta lacks '{}'", key));
  if (!meta[kVersionKey].is_string())
    return refusal(request, kInvalidParams, fmt::format("_meta['{}'] must be a text", kVersionKey));
  const std::string version = meta[kVersionKey];
  if (headers != nullptr)
    if (std::string why = header_mismatch(*headers, request, version); !why.empty())
      return refusal(request, kHeaderMismatch, std::move(why));
  if (version != kModernVersion)
    return refusal(request, kUnsupportedVersion, "Unsupported protocol version",
                   {{"supported", supported_versions()}, {"requested", version}});
  return std::nullopt;
}

}  // namespace

std::vector<std::string> supported_versions() {
  std::vector<std::string> versions = {std::string(kModernVersion)};
  versions.insert(versions.end(), kLegacyVersions.begin(), kLegacyVersions.end());
  return versions;
}

std::string legacy_version(const Json& params) {
  const auto asked = params.find("protocolVersion");
  if (asked != params.end() && asked->is_string())
    for (const std::string_view known : kLegacyVersions)
      if (*asked == known) return std::string(known);
  return std::string(kLegacyVersions.front());
}

Message parse_message(std::string_view text, const Headers* http_headers) {
  const auto json = parse_json(text);
  const Era era = era_of(http_headers);
  if (!json) return RpcError{.code = kParseError, .message = json.error().message, .era = era};
  if (!json->is_object())
    return RpcError{
        .code = kInvalidRequest, .message = "a message must be one JSON object", .era = era};
  Request request;
  if (json->contains("id")) request.id = (*json)["id"];
  const bool has_id = request.id.is_string() || request.id.is_number_integer();
  const auto invalid = [&](std::string message) {
    return RpcError{.code = kInvalidRequest,
                    .message = std::move(message),
                    .id = has_id ? request.id : Json(),
                    .era = era};
  };
  if (json->value("jsonrpc", Json()) != "2.0") return invalid("jsonrpc is \"2.0\"");
  // A response needs no answer, and this server asks for nothing.
  if (has_id && !json->contains("method")) return Notification{};
  if (!json->contains("method") || !(*json)["method"].is_string())
    return invalid("method must be a text");
  request.method = (*json)["method"];
  if (json->contains("params")) request.params = (*json)["params"];
  if (!request.params.is_object()) return invalid("params must be an object");
  if (!json->contains("id")) return Notification{request.method, request.params};
  if (!has_id) return invalid("id must be a text or a whole number");
  if (auto error = check_era(http_headers, request)) return *std::move(error);
  return request;
}

Json server_info() {
  return {
      {"name", "tritonsmith"}, {"title", "Tritonsmith: a judge of GPU kernels"}, {"version", "1"}};
}

Json result_message(const Request& request, Json result) {
  if (request.era == Era::modern) {
    result["resultType"] = "complete";
    result["_meta"]["io.modelcontextprotocol/serverInfo"] = server_info();
  }
  return {{"jsonrpc", "2.0"}, {"id", request.id}, {"result", std::move(result)}};
}

Json error_message(const RpcError& error) {
  Json body = {{"code", error.code}, {"message", error.message}};
  if (!error.data.is_null()) body["data"] = error.data;
  return {{"jsonrpc", "2.0"}, {"id", error.id}, {"error", std::move(body)}};
}

Json progress_message(const Json& token, double progress, std::string_view message) {
  return {{"jsonrpc", "2.0"},
          {"method", "notifications/progress"},
          {"params", {{"progressToken", token}, {"progress", progress}, {"message", message}}}};
}

int http_status_of(const RpcError& error) {
  if (error.era == Era::legacy) return 200;
  if (error.code == kMethodNotFound) return 404;
  return error.code == kInternalError ? 500 : 400;
}

}  // namespace tritonsmith::serve::mcp
