// The part of a Referee that looks at tasks before anybody is judged by them.
#include <algorithm>

#include "gym/device/device.h"
#include "gym/plan/analysis/eval_mode.h"
#include "gym/plan/analysis/plan_needs.h"
#include "gym/referee/lint.h"
#include "gym/referee/referee.h"
#include "gym/referee/trial_context.h"

namespace tritonsmith::gym::referee {

tl::expected<trial::ReferenceMode, replay::Stop> Referee::mode_by_shell(const RefereeJob& job) {
  const auto known = modes_.find(job.task_key);
  if (known != modes_.end()) return known->second;
  auto mode = shell_->prepare();
  if (mode) modes_[job.task_key] = *mode;
  return mode;
}

// A job without a candidate. It has a fault of the infrastructure where that failed, and another
// time may tell more.
RefereeReport Referee::look_at(const RefereeJob& job, const plan::Plan& task) {
  LintReport looked;
  try {
    looked = task.unplanned.empty() ? lint_by_plan(job, task) : lint_by_shell(job, task);
    if (looked.refusal && shell_ != nullptr)
      looked = lint_by_shell(job, plan::analysis::without_forward(task, *looked.refusal));
  } catch (const std::exception& error) {  // LibTorch's, for lack of memory as a rule
    device_->end();
    const std::string what = error.what();
    looked = {.findings = {not_linted(what.substr(0, what.find('\n')))}};
  }
  RefereeReport report;
  report.findings = std::move(looked.findings);
  report.fault = looked.is_final ? Fault::none : Fault::infrastructure;
  return report;
}

namespace {

LintSetting setting_of(const RefereeJob& job, const plan::Plan& task) {
  return {.task = task,
          .secret = job.secret,
          .comparison = job.comparison,
          .tolerance = job.tolerance,
          .deadline = deadline_of(job),
          .memory_bytes = job.budget.memory_bytes};
}

}  // namespace

LintReport Referee::lint_by_plan(const RefereeJob& job, const plan::Plan& task) {
  const plan::Plan plan = plan::analysis::draws_in_forward(task)
                              ? plan::analysis::with_draws_first(plan::analysis::in_eval_mode(task))
                              : task;
  return lint_task(setting_of(job, plan), *executor_, *device_);
}

LintReport Referee::lint_by_shell(const RefereeJob& job, const plan::Plan& task) {
  if (shell_ == nullptr)
    return {.findings = {
                not_linted("its forward is no plan's to run, and no reference shell is here")}};
  const auto mode = mode_by_shell(job);
  if (!mode)
    return {.findings = {not_linted(mode.error().error.message)},
            .is_final = mode.error().fault != Fault::infrastructure};
  LintSetting setting = setting_of(job, task);
  setting.shell = shell_;
  setting.mode = *mode;
  return lint_task(setting, *executor_, *device_);
}

}  // namespace tritonsmith::gym::referee
