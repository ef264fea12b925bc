#include "gym/judge/task_linter.h"

#include <algorithm>

#include "base/hash.h"
#include "base/memory.h"
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

Result<std::vector<Finding>> TaskLinter::lint(const Task& task) {
  const capture::CaptureOutcome captured = pool_->capture_now(
      {.role = capture::CaptureRole::task, .source = task.source, .path = "task.py"});
  if (const auto* fault = std::get_if<sandbox::InfrastructureFault>(&captured.result))
    return fail("{}", fault->message);
  if (const auto* failure = std::get_if<sandbox::CandidateFailure>(&captured.result))
    return std::vector<Finding>{
        {.rule = "task_not_captured",
         .severity = Severity::warn,
         .line = failure->error.line,
         .message = class_name(failure->error) + ": " + failure->error.message}};
  TRY_ASSIGN(const plan::Plan plan,
             plan::parse_plan(std::get<capture::CapturedPlan>(captured.result).json));
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
  const RefereeOutcome outcome =
      referee_->judge(job, std::get<capture::CapturedPlan>(captured.result).json);
  const TaskLook look = task_look(outcome);
  if (!look.is_final) return fail("{}", look.findings.back().message);
  findings.insert(findings.end(), look.findings.begin(), look.findings.end());
  return findings;
}

}  // namespace tritonsmith::gym::judge
