#include "serve/openenv/tool_step.h"

namespace tritonsmith::serve::openenv {
namespace {

constexpr double kLongestSeconds = 55;  // OpenEnv's client waits 60 s for an answer

tl::unexpected<EnvironmentError> wrong_step(std::string message) {
  return tl::unexpected<EnvironmentError>(
      {.code = ErrorCode::validation_error, .message = std::move(message)});
}

Json result_with(Json observation) {
  observation["metadata"] = Json::object();
  return {{"observation", std::move(observation)}, {"reward", nullptr}, {"done", false}};
}

// OpenEnv's ToolError: the tool has no result.
Json tool_error(const std::string& type, const std::string& message) {
  return {{"error_type", type}, {"message", message}};
}

}  // namespace

bool ToolStep::is_meant(const Json& action) {
  if (!action.is_object()) return false;
  const Json type = action.value("type", Json());
  return type == "list_tools" || type == "call_tool";
}

OrError<std::optional<Json>> ToolStep::begin(const Json& action) {
  Json message = {{"jsonrpc", "2.0"}, {"id", 1}, {"method", "tools/list"}};
  tool_.clear();
  if (action.at("type") == "call_tool") {
    JsonReader reader(action);
    tool_ = reader.string("tool_name");
    const Json& arguments = reader.object("arguments");
    if (const auto read = reader.status(); !read) return wrong_step(read.error().message);
    if (tool_.empty()) return wrong_step("tool_name is empty");
    message["method"] = "tools/call";
    message["params"] = {{"name", tool_}, {"arguments", arguments}};
  }
  began_ = watch_.seconds();
  const auto answer = call_.begin(to_line(message));
  return answer ? std::optional(observation_of(*answer)) : std::nullopt;
}

std::optional<Json> ToolStep::await(Milliseconds patience) {
  const auto message = call_.next(patience);
  if (message && !call_.is_waiting()) return observation_of(*message);
  if (watch_.seconds() < began_ + kLongestSeconds) return std::nullopt;
  call_.leave();
  const std::string why = "there is no result yet; call the tool again, nothing is judged twice";
  return result_with(
      {{"tool_name", tool_}, {"result", nullptr}, {"error", tool_error("timeout", why)}});
}

// The result has `data`, which OpenEnv's call_tool() returns.
Json ToolStep::observation_of(const Json& message) const {
  if (tool_.empty()) return result_with({{"tools", message.at("result").at("tools")}});
  Json seen = {{"tool_name", tool_}, {"result", nullptr}, {"error", nullptr}};
  if (message.contains("error")) {
    const std::string why = message["error"]["message"];
    const bool is_unknown = why.starts_with("Unknown tool");
    seen["error"] = tool_error(is_unknown ? "tool_not_found" : "invalid_args", why);
    return result_with(std::move(seen));
  }
  const Json& result = message.at("result");
  const Json& text = result.at("content").at(0).at("text");
  if (result.at("isError") == true) {
    seen["error"] = tool_error("execution_error", text);
  } else {
    seen["result"] = result;
    seen["result"]["data"] = result.value("structuredContent", text);
  }
  return result_with(std::move(seen));
}

}  // namespace tritonsmith::serve::openenv
