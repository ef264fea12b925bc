// The part of a Referee that looks at tasks before anybody is judged by them.
#include <algorithm>

#include "gym/referee/eval_mode.h"
#include "gym/referee/lint.h"
#include "gym/referee/place.h"
#include "gym/referee/referee.h"

namespace tritonsmith::gym {
namespace {

std::vector<Finding> not_linted(std::string why) {
  return {{.rule = "task_not_linted", .severity = Severity::note, .message = std::move(why)}};
}

}  // namespace

tl::expected<ReferenceMode, Stop> Referee::mode_by_shell(const RefereeJob& job) {
  const auto known = modes_.find(job.task_key);
  if (known != modes_.end()) return known->second;
  auto mode = shell_->prepare();
  if (mode) modes_[job.task_key] = *mode;
  return mode;
}

// Once a task and comparison, which decides what passes. What it finds goes into every verdict
// about the task.
std::vector<Finding> Referee::lint_once(const RefereeJob& job, const Plan& task) {
  if (gpu_ != nullptr) return {};  // the CPU's referee lints
  const std::pair key(job.task_key, job.comparison);
  const auto known = lint_.find(key);
  if (known != lint_.end()) return known->second;
  const bool by_shell = !task.unplanned.empty();
  if (by_shell && shell_ == nullptr)
    return not_linted("its forward is no plan's to run, and no reference shell is here");
  LintReport report;
  try {
    ReferenceMode mode = ReferenceMode::train;
    if (by_shell) {
      const auto told = mode_by_shell(job);
      if (!told) return not_linted(told.error().error.message);
      mode = *told;
    }
    constexpr double share = 0.25;  // of the job's time
    const Plan plan = !by_shell && draws_in_forward(task) ? in_eval_mode(task) : task;
    report = lint_task(
        {.task = plan,
         .secret = job.secret,
         .comparison = job.comparison,
         .tolerance = job.tolerance,
         .deadline = Deadline::in_seconds(share * std::clamp(job.budget.seconds, 0.001, 86400.0)),
         .memory_bytes = job.budget.memory_bytes,
         .shell = by_shell ? shell_ : nullptr,
         .mode = mode},
        *executor_);
  } catch (const std::exception& error) {  // LibTorch's, for lack of memory as a rule
    place_->end();
    const std::string what = error.what();
    report.findings = not_linted(what.substr(0, what.find('\n')));
  }
  if (!report.is_final) return report.findings;
  if (lint_.size() >= kKeptTasks) lint_.clear();
  return lint_[key] = report.findings;
}

}  // namespace tritonsmith::gym
