#include "gym/referee/lint_job.h"

#include "gym/plan/analysis/cost/plan_needs.h"
#include "gym/plan/analysis/eval_mode.h"
#include "gym/referee/lint.h"
#include "gym/referee/protocol/not_linted.h"
#include "gym/referee/task_domain.h"
#include "gym/referee/trial_context.h"

namespace tritonsmith::gym::referee {
namespace {

LintSetting lint_setting_of(const RefereeJob& job, const plan::Plan& task) {
  return {.task = task,
          .secret = job.secret,
          .comparison = job.comparison,
          .tolerance = job.tolerance,
          .deadline = deadline_of(job),
          .memory_bytes = job.budget.memory_bytes};
}

LintReport lint_by_plan(Equipment& equipment, const RefereeJob& job, const plan::Plan& task) {
  const plan::Plan plan = plan::analysis::draws_in_forward(task)
                              ? plan::analysis::with_draws_first(plan::analysis::in_eval_mode(task))
                              : task;
  LintSetting setting = lint_setting_of(job, plan);
  setting.takes = [&](trial::Perturbation kind) {
    trial::TrialConfig config{.task = plan,
                              .candidate = plan,
                              .secret = job.secret,
                              .task_key = job.task_key,
                              .kind = kind};
    return !refused_by_reference(equipment, config);
  };
  return lint_task(setting, *equipment.executor, equipment.device);
}

LintReport lint_by_python_reference(Equipment& equipment, PythonReferences& python,
                                    const RefereeJob& job, const plan::Plan& task) {
  if (python.source() == nullptr)
    return {.findings = {not_linted(
                "its forward is no plan's to run, and there is no Python reference here")}};
  const auto mode = python.mode_of(job.task_key);
  if (!mode)
    return {.findings = {not_linted(mode.error().error.message)},
            .is_final = mode.error().fault != Fault::infrastructure};
  LintSetting setting = lint_setting_of(job, task);
  setting.python_reference = python.source();
  setting.mode = *mode;
  return lint_task(setting, *equipment.executor, equipment.device);
}

}  // namespace

RefereeReport lint_job(Equipment& equipment, PythonReferences& python, const RefereeJob& job,
                       const plan::Plan& task) {
  LintReport looked;
  try {
    looked = task.unplanned.empty() ? lint_by_plan(equipment, job, task)
                                    : lint_by_python_reference(equipment, python, job, task);
    if (looked.refusal && python.source() != nullptr)
      looked = lint_by_python_reference(equipment, python, job,
                                        plan::analysis::without_forward(task, *looked.refusal));
  } catch (const std::exception& error) {  // LibTorch throws it, usually for lack of memory
    equipment.device.end();
    const std::string what = error.what();
    looked = {.findings = {not_linted(what.substr(0, what.find('\n')))}};
  }
  RefereeReport report;
  report.findings = std::move(looked.findings);
  report.fault = looked.is_final ? Fault::none : Fault::infrastructure;
  return report;
}

}  // namespace tritonsmith::gym::referee
