#include "serve/mcp/server.h"

#include <random>

namespace tritonsmith::serve::mcp {
namespace {

constexpr double kProgressEverySeconds = 1, kLookEverySeconds = 1;
constexpr int kListTtlMs = 3'600'000;  // the tools change only with the program

constexpr std::string_view kInstructions =
    "Tritonsmith judges Triton GPU kernels: compiler, tests and profiler in one. Get a task with "
    "list_tasks and get_task, or bring a PyTorch module of your own with Model, get_inputs and "
    "get_init_inputs. Write ModelNew, call judge_kernel, mend what its text names, and call it "
    "again until the kernel is accepted; then make it faster.";

Json capabilities() { return {{"tools", {{"listChanged", false}}}}; }

Json discovery() {
  return {{"supportedVersions", supported_versions()},
          {"capabilities", capabilities()},
          {"instructions", kInstructions},
          {"ttlMs", kListTtlMs},
          {"cacheScope", "private"}};
}

Json initialization(const Json& params) {
  return {{"protocolVersion", legacy_version(params)},
          {"capabilities", capabilities()},
          {"serverInfo", server_info()},
          {"instructions", kInstructions}};
}

Json tool_list(const Request& request, const Tools& tools) {
  Json result = {{"tools", tools.list()}};
  if (request.era == Era::modern) {
    result["ttlMs"] = kListTtlMs;
    result["cacheScope"] = "private";
  }
  return result;
}

Json result_of(const ToolResult& result) {
  Json json = {{"content", {{{"type", "text"}, {"text", result.text}}}},
               {"isError", result.is_error}};
  if (!result.structured.is_null()) json["structuredContent"] = result.structured;
  return json;
}

ToolResult no_verdict(const std::string& why) {
  return {.text = fmt::format("There is no verdict, by no fault of the kernel: {}. Call the tool "
                              "again.",
                              why),
          .structured = nullptr,
          .is_error = true};
}

// OpenEnv's clients open a session before they call tools. The tools keep nothing between two calls,
// so a session is a name, which any API server of a gym takes.
McpServer::Answer close_session(const Request& request) {
  const Json session = request.params.value("session_id", Json());
  if (!session.is_string() || session.get_ref<const std::string&>().empty())
    return RpcError{.code = kInvalidParams,
                    .message = "params.session_id must be a text that is not empty",
                    .id = request.id};
  return result_message(request, {{"session_id", session}, {"closed", true}});
}

}  // namespace

std::string new_session_id() {
  std::random_device device;
  return fmt::format("{:08x}{:08x}{:08x}{:08x}", device(), device(), device(), device());
}

PendingCall::PendingCall(const AwaitedJudge& judge, Request request, JudgingTool tool,
                         gym::service::Submitter submitter)
    : judge_(judge),
      request_(std::move(request)),
      tool_(std::move(tool)),
      job_(judge.context, tool_.submission, std::move(submitter)) {}

std::string PendingCall::why_to_give_up() {
  const double now = watch_.seconds();
  if (looked_seconds_ && now < *looked_seconds_ + kLookEverySeconds) return "";
  looked_seconds_ = now;
  const auto& health = judge_.context.health;
  if (const std::string failed = health.failed_start ? health.failed_start() : ""; !failed.empty())
    return "the judge does not start: " + failed;
  const std::string trouble = why_no_judge(judge_.context);
  if (trouble.empty()) {
    unready_seconds_.reset();
    return "";
  }
  if (!unready_seconds_) unready_seconds_ = now;
  if (now < *unready_seconds_ + judge_.patience_seconds) return "";
  return fmt::format("no judge has taken jobs for {:.0f} s: {}", now - *unready_seconds_, trouble);
}

std::optional<Json> PendingCall::next(Milliseconds patience) {
  const auto verdict = job_.wait(Deadline::after(patience));
  std::string why;
  if (!verdict && verdict.error().reason == NoVerdict::pending &&
      (why = why_to_give_up()).empty()) {
    const double seconds = watch_.seconds();
    if (request_.progress_token.is_null() || seconds < told_seconds_ + kProgressEverySeconds)
      return std::nullopt;
    told_seconds_ = seconds;
    return progress_message(
        request_.progress_token, seconds,
        job_.is_running() ? "the kernel is being judged" : "the job waits in the queue");
  }
  is_done_ = true;  // the job stays: a repeated call finds it
  if (verdict) return result_message(request_, result_of(tool_.finish(*verdict)));
  return result_message(request_,
                        result_of(no_verdict(why.empty() ? verdict.error().message : why)));
}

void PendingCall::cancel() {
  if (!is_done_) job_.cancel();
  is_done_ = true;
}

McpServer::Answer McpServer::answer(const Request& request,
                                    const gym::service::Submitter& submitter) const {
  const bool is_modern = request.era == Era::modern;
  if (request.method == "tools/call") return call_tool(request, submitter);
  if (request.method == "tools/list") return result_message(request, tool_list(request, tools_));
  if (is_modern && request.method == "server/discover") return result_message(request, discovery());
  if (!is_modern && request.method == "initialize")
    return result_message(request, initialization(request.params));
  if (!is_modern && request.method == "ping") return result_message(request, Json::object());
  if (!is_modern && request.method == "openenv/session/create")
    return result_message(request, {{"session_id", new_session_id()}});
  if (!is_modern && request.method == "openenv/session/close") return close_session(request);
  return RpcError{.code = kMethodNotFound,
                  .message = "there is no method '" + request.method + "'",
                  .id = request.id,
                  .era = request.era};
}

McpServer::Answer McpServer::call_tool(const Request& request,
                                       const gym::service::Submitter& submitter) const {
  const auto invalid = [&](std::string message) {
    return RpcError{.code = kInvalidParams,
                    .message = std::move(message),
                    .id = request.id,
                    .era = request.era};
  };
  const auto name = request.params.find("name");
  if (name == request.params.end() || !name->is_string())
    return invalid("params.name must be a text");
  const Json arguments = request.params.value("arguments", Json::object());
  if (!arguments.is_object()) return invalid("params.arguments must be an object");
  ToolStart start = tools_.start(*name, arguments);
  if (const auto* result = std::get_if<ToolResult>(&start))
    return result_message(request, result_of(*result));
  if (auto* judging = std::get_if<JudgingTool>(&start))
    return std::make_unique<PendingCall>(judge_, request, std::move(*judging), submitter);
  return invalid("Unknown tool: " + name->get<std::string>());
}

}  // namespace tritonsmith::serve::mcp
