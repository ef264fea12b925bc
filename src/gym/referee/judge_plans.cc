#include "gym/referee/judge_plans.h"

#include "gym/plan/analysis/eval_mode.h"
#include "gym/plan/analysis/returned_changes.h"
#include "gym/referee/refusals.h"
#include "gym/referee/report_entries.h"
#include "gym/referee/run_trials.h"

namespace tritonsmith::gym::referee {
namespace {

Finding given_draws_note() {
  return {.rule = "given_draws",
          .severity = Severity::note,
          .message =
              "forward draws random numbers: both sides were given the same ones, before "
              "it, in the order of their calls"};
}

Finding eval_mode_note() {
  return {.rule = "judged_in_eval_mode",
          .severity = Severity::note,
          .message = "the reference draws random numbers in training mode"};
}

// The start of the Python reference and its first run of the task do not count as the job's time.
PlanJudgement judge_by_python_reference(Equipment& equipment, PythonReferences& python,
                                        const RefereeJob& job, const plan::Plan& task,
                                        const plan::Plan& candidate) {
  const std::string why = "forward cannot be captured (" + task.unplanned + ")";
  PlanJudgement judgement;
  RefereeReport& report = judgement.report;
  report.reference = ReferenceKind::python;
  // The class task_failed says by itself that the task fails. Other classes are also the candidate's.
  const auto refused = [](ErrorClass error_class, const std::string& message, Fault fault) {
    const bool says_so = error_class == ErrorClass::task_failed;
    PlanJudgement end{ended(error_class, (says_so ? "" : "the task itself: ") + message, fault),
                      {}};
    end.report.reference = ReferenceKind::python;
    return end;
  };
  if (python.source() == nullptr)
    return refused(ErrorClass::task_failed, why + ", and there is no Python reference here",
                   Fault::none);
  if (equipment.cuda != nullptr) equipment.cuda->use(job.kernels);
  if (auto large = too_large(job, task, candidate, equipment.device))
    return {*std::move(large), {}};
  const auto mode = python.mode_of(job.task_key);
  if (!mode)
    return refused(mode.error().error.error_class, mode.error().error.message, mode.error().fault);
  TrialContext context{job,
                       task,
                       candidate,
                       deadline_of(job),
                       has_room_for_oracle(job, task, equipment.device),
                       python.source(),
                       *mode};
  report.findings.push_back({.rule = "reference_shell",
                             .severity = Severity::note,
                             .message = why + ": the Python reference ran the task"});
  if (context.mode == trial::ReferenceMode::train) {
    run_trials(equipment, context, judgement);
    return judgement;
  }
  report.findings.push_back(eval_mode_note());
  const plan::Plan candidate_in_eval = plan::analysis::in_eval_mode(candidate);
  run_trials(equipment,
             {job, task, candidate_in_eval, context.deadline, context.with_oracle, python.source(),
              context.mode},
             judgement);
  return judgement;
}

PlanJudgement judge_returned(Equipment& equipment, PythonReferences& python, const RefereeJob& job,
                             const plan::Plan& task, const plan::Plan& candidate) {
  if (auto refused = beyond_kernelbench(job, task)) return {*std::move(refused), {}};
  if (auto refused = unsafe(job, task, candidate)) return {*std::move(refused), {}};
  if (equipment.cuda != nullptr)
    if (auto refused = racing(candidate)) return {*std::move(refused), {}};
  if (auto refused = racing_streams(candidate)) return {*std::move(refused), {}};
  if (!task.unplanned.empty())
    return judge_by_python_reference(equipment, python, job, task, candidate);
  const Deadline deadline = deadline_of(job);
  if (equipment.cuda != nullptr) equipment.cuda->use(job.kernels);
  if (auto refused = too_large(job, task, candidate, equipment.device))
    return {*std::move(refused), {}};
  PlanJudgement judgement;
  RefereeReport& report = judgement.report;
  const bool with_oracle = has_room_for_oracle(job, task, equipment.device);
  if (!with_oracle)
    report.findings.push_back(missing_oracle_note("no memory for the reference in float64"));
  if (!plan::analysis::draws_in_forward(task)) {
    TrialContext context{job, task, candidate, deadline, with_oracle};
    if (equipment.fused && with_oracle) context.fused = equipment.fused->find(task);
    run_trials(equipment, context, judgement);
    return judgement;
  }
  plan::Plan calm = plan::analysis::in_eval_mode(task),
             calm_candidate = plan::analysis::in_eval_mode(candidate);
  if (!(calm == task)) report.findings.push_back(eval_mode_note());
  if (plan::analysis::draws_in_forward(calm)) {
    calm = plan::analysis::with_draws_first(std::move(calm));
    calm_candidate = plan::analysis::with_draws_first(std::move(calm_candidate));
    if (plan::analysis::draws_in_forward(calm))
      return {ended(ErrorClass::nondeterministic_reference,
                    "the reference draws random numbers that follow from tensors, even in "
                    "evaluation mode",
                    Fault::none),
              {}};
    report.findings.push_back(given_draws_note());
  }
  if (!run_trials(equipment, {job, calm, calm_candidate, deadline, with_oracle}, judgement) &&
      !(calm == task) && report.error && report.error->error_class == ErrorClass::wrong_value)
    report.error->message +=
        " (judged in evaluation mode, since the task draws at random: nothing may be dropped)";
  return judgement;
}

}  // namespace

PlanJudgement judge_plans(Equipment& equipment, PythonReferences& python, const RefereeJob& job,
                          const plan::Plan& task, const plan::Plan& candidate) {
  const auto returned = plan::analysis::with_changes_returned(task, candidate);
  return returned ? judge_returned(equipment, python, job, returned->first, returned->second)
                  : judge_returned(equipment, python, job, task, candidate);
}

}  // namespace tritonsmith::gym::referee
