#include "gym/judge/task_linter.h"

#include <algorithm>

#include "base/hash.h"
#include "base/memory.h"
#include "gym/judge/reduced_task.h"
#include "gym/judge/referee_with_python.h"
#include "gym/judge/secret.h"
#include "gym/judge/task_lints.h"
#include "gym/plan/plan.h"

namespace tritonsmith::gym::judge {

referee::RefereeBudget generous_budget() {
  const referee::RefereeBudget least;
  return {.seconds = 120,
          .memory_bytes = std::max(least.memory_bytes, available_memory_bytes() / 2)};
}

Result<std::unique_ptr<TaskLinter>> TaskLinter::start(const capture::CaptureConfig& config,
                                                      RefereeProgram program) {
  TRY_ASSIGN(auto pool, capture::CapturePool::start(config));
  TRY_ASSIGN(std::string secret, fresh_secret());
  const referee::RefereeBudget budget = generous_budget();
  program.memory_bytes = budget.memory_bytes;
  auto referee = std::make_unique<RefereeWithPython>(
      [&](PythonReference& reference) {
        return std::make_unique<RefereeProcess>(program, &reference);
      },
      python_reference_options(config, "cpu"), std::vector<std::string>());
  return std::make_unique<TaskLinter>(std::move(pool), std::move(referee), std::move(secret),
                                      budget);
}

TaskLinter::TaskLinter(std::unique_ptr<capture::CapturePool> pool,
                       std::unique_ptr<RefereeClient> referee, std::string secret,
                       referee::RefereeBudget budget)
    : pool_(std::move(pool)),
      referee_(std::move(referee)),
      secret_(std::move(secret)),
      budget_(budget) {}

Result<std::variant<std::string, VerdictError>> TaskLinter::capture(const std::string& source) {
  capture::CaptureOutcome captured =
      pool_->capture_now({.role = capture::CaptureRole::task, .source = source, .path = "task.py"});
  if (const auto* fault = std::get_if<sandbox::InfrastructureFault>(&captured.result))
    return fail("{}", fault->message);
  if (auto* failure = std::get_if<sandbox::CandidateFailure>(&captured.result))
    return std::move(failure->error);
  return std::move(std::get<capture::CapturedPlan>(captured.result).json);
}

Result<std::vector<Finding>> TaskLinter::lint(const Task& task) {
  TRY_ASSIGN(const auto captured, capture(task.source));
  if (const auto* error = std::get_if<VerdictError>(&captured))
    return std::vector<Finding>{{.rule = "task_not_captured",
                                 .severity = Severity::warn,
                                 .line = error->line,
                                 .message = class_name(*error) + ": " + error->message}};
  const std::string& json = std::get<std::string>(captured);
  TRY_ASSIGN(const plan::Plan plan, plan::parse_plan(json));
  std::vector<Finding> findings;
  if (!plan.unplanned.empty())
    findings.push_back(
        {.rule = "reference_shell",
         .severity = Severity::note,
         .message = "forward cannot be captured (" + plan.unplanned + "): its Python runs"});
  const referee::RefereeJob job{.task_key = content_key(task.source),
                                .task_source = task.source,
                                .secret = secret_,
                                .tolerance = task.tolerance,
                                .budget = budget_};
  const TaskLook look = task_look(referee_->judge(job, json));
  if (!look.is_final) return fail("{}", look.findings.back().message);
  findings.insert(findings.end(), look.findings.begin(), look.findings.end());
  return findings;
}

// Divides the sizes further until the task is small, as long as it stays the same task.
Result<TaskLinter::MeasuredPlan> TaskLinter::reduced(MeasuredPlan whole) {
  constexpr std::int64_t few_elements = 1 << 18, largest_divisor = 1 << 12;
  TRY_ASSIGN(const plan::Plan original, plan::parse_plan(whole.json));
  MeasuredPlan best = std::move(whole);
  if (elements_in(original) <= few_elements) return best;
  const std::string source = best.source;
  std::string last = source;
  for (std::int64_t divisor = 2; divisor <= largest_divisor; divisor *= 2) {
    std::string smaller = with_sizes_divided(source, divisor);
    if (smaller == last) break;
    last = smaller;
    TRY_ASSIGN(auto captured, capture(smaller));
    auto* json = std::get_if<std::string>(&captured);
    if (json == nullptr) continue;
    TRY_ASSIGN(const plan::Plan plan, plan::parse_plan(*json));
    if (!computes_alike(plan, original)) continue;
    best = {.source = std::move(smaller), .json = std::move(*json), .divisor = divisor};
    if (elements_in(plan) <= few_elements) break;
  }
  return best;
}

Result<Adequacy> TaskLinter::measure(const Task& task, const MeasureOptions& options) {
  Adequacy none;
  TRY_ASSIGN(auto captured, capture(task.source));
  if (const auto* error = std::get_if<VerdictError>(&captured)) {
    none.why_not = "the task cannot be captured: " + error->message;
    return none;
  }
  TRY_ASSIGN(const MeasuredPlan measured,
             reduced({.source = task.source, .json = std::move(std::get<std::string>(captured))}));
  const referee::RefereeJob job{
      .task_key = content_key(measured.source),
      .task_source = measured.source,
      .adequacy_only = true,
      .adequacy_secrets = options.secrets,
      .secret = secret_,
      .tolerance = task.tolerance,
      .budget = {.seconds = options.seconds, .memory_bytes = budget_.memory_bytes}};
  const RefereeOutcome outcome = referee_->judge(job, measured.json);
  if (const auto* failure = std::get_if<RefereeFailure>(&outcome)) {
    if (failure->kind != RefereeFailure::Kind::timeout) return fail("{}", failure->message);
    none.why_not = failure->message;
    return none;
  }
  const auto& report = std::get<referee::RefereeReport>(outcome);
  if (!report.adequacy) return fail("the referee did not measure the task");
  Adequacy adequacy = *report.adequacy;
  adequacy.reduced_by = static_cast<int>(measured.divisor);
  return adequacy;
}

}  // namespace tritonsmith::gym::judge
