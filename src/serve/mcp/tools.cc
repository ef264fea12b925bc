#include "serve/mcp/tools.h"

#include <algorithm>

#include "base/config.h"
#include "base/file.h"
#include "serve/mcp/explanations.h"
#include "serve/mcp/reference_probe.h"
#include "serve/mcp/tool_schemas.h"
#include "text/feedback.h"

namespace tritonsmith::serve::mcp {
namespace {

constexpr std::size_t kMostListed = 100;

ToolResult refusal(const Error& error) {
  return {.text = error.message, .structured = nullptr, .is_error = true};
}

// Refuses unknown arguments. Otherwise a misspelt one would have no effect and no message.
Status check_arguments(const Json& arguments, const Json& schema) {
  std::vector<std::string> known;
  for (const auto& [name, member] : schema.at("properties").items()) known.push_back(name);
  for (const auto& [name, value] : arguments.items())
    if (std::ranges::find(known, name) == known.end())
      return fail("there is no argument '{}'; {}", name,
                  known.empty() ? "the tool takes none" : suggestion(name, known));
  return ok();
}

std::string lower_case(std::string text) {
  for (char& c : text)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return text;
}

Json summary_of(const Task& task) {
  Json summary = {{"id", task.id}};
  if (!task.family.empty()) summary["family"] = task.family;
  if (!task.instruction.empty()) summary["instruction"] = task.instruction;
  return summary;
}

bool mentions(const Task& task, const std::string& wanted) {
  return lower_case(task.id + "\n" + task.family + "\n" + task.instruction).find(wanted) !=
         std::string::npos;
}

ToolResult verdict_result(const Verdict& verdict) {
  return {.text = text::verdict_text(verdict), .structured = to_json(verdict)};
}

}  // namespace

struct Tools::Tool {
  std::string_view name;
  Start start;
};

const std::vector<Tools::Tool>& Tools::all() {
  static const std::vector<Tool> tools = {
      {"judge_kernel", &Tools::judge_kernel}, {"get_task", &Tools::get_task},
      {"list_tasks", &Tools::list_tasks},     {"explain_finding", &Tools::explain_finding},
      {"device_facts", &Tools::device_facts}, {"reference_time", &Tools::reference_time}};
  return tools;
}

Tools::Tools(const Suite& suite, const gym::api::SubmissionLimits& limits,
             std::function<Result<Json>()> device_facts, FileAccess files)
    : suite_(suite), limits_(limits), device_facts_(std::move(device_facts)), files_(files) {}

Json Tools::list() const {
  Json tools = tool_schemas();
  for (Json& tool : tools)
    if (files_ == FileAccess::own && path_members().contains(tool["name"]))
      tool["inputSchema"]["properties"].update(path_members()[tool["name"].get<std::string>()]);
  return tools;
}

ToolStart Tools::start(const std::string& name, const Json& arguments) const {
  const auto tool = std::ranges::find(all(), name, &Tool::name);
  if (tool == all().end()) return UnknownTool{};
  const Json schemas = list();
  const auto schema =
      std::ranges::find_if(schemas, [&](const Json& each) { return each["name"] == name; });
  if (const auto checked = check_arguments(arguments, (*schema)["inputSchema"]); !checked)
    return refusal(checked.error());
  auto started = (this->*tool->start)(arguments);
  if (!started) return refusal(started.error());
  return *std::move(started);
}

Result<std::string> Tools::text_or_file(const Json& arguments, const std::string& name) const {
  JsonReader reader(arguments);
  std::string text = reader.string(name, "");
  const std::string path = reader.string(name + "_path", "");
  TRY(reader.status());
  if (!text.empty() && path.empty()) return text;
  if (files_ == FileAccess::none) return fail("give {}", name);
  if (text.empty() == path.empty()) return fail("give {0} or {0}_path, one of the two", name);
  return read_file(path);
}

Result<gym::api::Submission> Tools::job_for(const Json& arguments) const {
  TRY_ASSIGN(const std::string named, text_or_file(arguments, "task"));
  Json job = arguments;
  for (const char* path : {"kernel_path", "task_path"}) job.erase(path);
  job["kernel"] = "the caller's";
  job["task"] = {{"id", "task"}, {"source", named}};
  if (const Task* known = suite_.find(named)) {
    job["task"] = {{"id", known->id}, {"source", known->source}};
    if (known->tolerance) job["task"]["tolerance"] = *known->tolerance;
  } else if (named.find('\n') == std::string::npos) {
    return fail("there is no task '{}': list_tasks tells the ids; or give the source of a task",
                text::one_line(named, kMostListed));
  }
  return gym::api::submission_from_json(job, limits_);
}

Result<ToolStart> Tools::judge_kernel(const Json& arguments) const {
  TRY_ASSIGN(const std::string kernel, text_or_file(arguments, "kernel"));
  TRY_ASSIGN(gym::api::Submission submission, job_for(arguments));
  if (kernel.size() > limits_.source_bytes)
    return fail("the kernel has {} bytes, at most {} are taken", kernel.size(),
                limits_.source_bytes);
  submission.job.kernel = kernel;
  return JudgingTool{.submission = std::move(submission), .finish = verdict_result};
}

Result<ToolStart> Tools::get_task(const Json& arguments) const {
  JsonReader reader(arguments);
  const std::string id = reader.string("id");
  TRY(reader.status());
  const Task* task = suite_.find(id);
  if (task == nullptr)
    return fail("there is no task '{}': list_tasks tells the ids", text::one_line(id, kMostListed));
  Json structured = summary_of(*task);
  structured["source"] = task->source;
  if (task->tolerance) structured["tolerance"] = *task->tolerance;
  return ToolResult{.text = task->source, .structured = std::move(structured)};
}

Result<ToolStart> Tools::list_tasks(const Json& arguments) const {
  JsonReader reader(arguments);
  const std::string wanted = lower_case(reader.string("contains", ""));
  const std::string after = reader.string("after", "");
  const std::int64_t limit = reader.integer("limit", 50);
  TRY(reader.status());
  if (limit < 1 || limit > static_cast<std::int64_t>(kMostListed))
    return fail("limit must lie between 1 and {}", kMostListed);
  if (!after.empty() && suite_.find(after) == nullptr)
    return fail("after: there is no task '{}'", text::one_line(after, kMostListed));
  Json tasks = Json::array();
  std::string text;
  bool is_behind = after.empty(), more = false;
  for (const Task& task : suite_.tasks()) {
    if (is_behind && mentions(task, wanted)) {
      more = tasks.size() == static_cast<std::size_t>(limit);
      if (more) break;
      tasks.push_back(summary_of(task));
      text += task.id + "\n";
    }
    is_behind = is_behind || task.id == after;
  }
  if (suite_.tasks().empty())
    text = "The judge was started without --suite: give judge_kernel the source of a task.";
  return ToolResult{.text = std::move(text),
                    .structured = {{"tasks", std::move(tasks)}, {"more", more}}};
}

Result<ToolStart> Tools::explain_finding(const Json& arguments) const {
  JsonReader reader(arguments);
  const std::string name = reader.string("name");
  TRY(reader.status());
  const auto explanations = explanations_of(verdict_page(), name);
  if (explanations.empty())
    return fail("no verdict has '{}'; {}", text::one_line(name, kMostListed),
                suggestion(name, explained_names(verdict_page())));
  Json meanings = Json::array();
  std::string text;
  for (const Explanation& explanation : explanations) {
    Json meaning = {{"section", explanation.section}};
    text += fmt::format("{} ({})\n", explanation.name, explanation.section);
    for (const auto& [head, cell] : explanation.cells) {
      meaning[head] = cell;
      text += fmt::format("  {}: {}\n", head, cell);
    }
    meanings.push_back(std::move(meaning));
  }
  return ToolResult{.text = std::move(text),
                    .structured = {{"name", name}, {"meanings", std::move(meanings)}}};
}

Result<ToolStart> Tools::device_facts(const Json&) const {
  TRY_ASSIGN(Json facts, device_facts_());
  return ToolResult{.text = facts.dump(1, ' ', false, Json::error_handler_t::replace),
                    .structured = std::move(facts)};
}

Result<ToolStart> Tools::reference_time(const Json& arguments) const {
  TRY_ASSIGN(gym::api::Submission submission, job_for(arguments));
  TRY_ASSIGN(const Json facts, device_facts_());
  if (facts.value("backend", "") != "replay") {
    const std::string reason = "The judge has no GPU, so nothing is timed.";
    return ToolResult{.text = reason, .structured = {{"measured", false}, {"reason", reason}}};
  }
  submission.job.kernel = reference_probe(submission.job.task.source);
  submission.job.policy = Policy::open;
  submission.job.baselines = {"eager", "torch_compile"};
  TRY(gym::api::check_job(submission.job));
  return JudgingTool{.submission = std::move(submission), .finish = probe_result};
}

}  // namespace tritonsmith::serve::mcp
