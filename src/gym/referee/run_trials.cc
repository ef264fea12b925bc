#include "gym/referee/run_trials.h"

#include <algorithm>
#include <iterator>

#include "gym/plan/analysis/eval_mode.h"
#include "gym/referee/counter_trials.h"
#include "gym/referee/extreme_trials.h"
#include "gym/referee/other_orders.h"
#include "gym/referee/reference_jumps.h"
#include "gym/referee/report_entries.h"
#include "gym/referee/task_domain.h"
#include "gym/referee/time_plans.h"
#include "gym/referee/tuned_configs.h"
#include "gym/trial/findings/torch_compute.h"

namespace tritonsmith::gym::referee {
namespace {

// Judges the second call of forward, which shows what the first call left behind. Returns false if
// the job ends here.
bool run_later_call(Equipment& equipment, const TrialContext& context, RefereeReport& report) {
  trial::TrialConfig config = context.config_of(context.job.trials, trial::Perturbation::plain);
  config.later_call = true;
  const trial::TrialResult result = run_ordered_trial(equipment, config);
  add_trial(report, result);
  if (!ends_job(report, result, context.deadline)) return true;
  if (report.fault != Fault::infrastructure)
    report.error->message = "in the second call of forward: " + report.error->message;
  return false;
}

// Judges the first call of a candidate that takes other steps in later calls. Returns false if the
// job ends here.
bool run_first_call(Equipment& equipment, const TrialContext& context, RefereeReport& report) {
  trial::find_torch_compute_of_first_call(context.candidate, context.task, context.job.policy,
                                          report.findings);
  const plan::Plan first = plan::analysis::with_draws_first(plan::first_call_of(context.candidate));
  const TrialContext of_first = context.with_candidate(first);
  Soundness plain;
  for (const int trial : {0, 1}) {
    const trial::TrialResult result = run_usable_trial(
        equipment, of_first.config_of(trial, trial::perturbation_of_trial(trial)), plain);
    add_trial(report, result);
    if (ends_job(report, result, context.deadline)) {
      if (report.fault != Fault::infrastructure)
        report.error->message = "in the first call of forward: " + report.error->message;
      return false;
    }
    if (trial == 0) plain = soundness_of(context.task, result);
  }
  return true;
}

// The first call was right. So a second call that is wrong finds something that the first one left.
void blame_what_is_kept(const plan::Plan& candidate, trial::TrialResult& result) {
  if (!result.difference) return;
  result.difference->error_class = ErrorClass::state_carried;
  result.difference->message =
      fmt::format("{}. Then the second call is wrong: {}", candidate.first_call->difference,
                  result.difference->message);
}

}  // namespace

trial::TrialResult run_ordered_trial(Equipment& equipment, trial::TrialConfig config) {
  const auto error = [](const trial::TrialResult& result) -> const VerdictError* {
    if (!result.candidate_stop) return result.difference ? &*result.difference : nullptr;
    return result.candidate_stop->fault == Fault::candidate ? &result.candidate_stop->error
                                                            : nullptr;
  };
  trial::TrialResult result;
  result.reference_stop = refused_by_reference(equipment, config);
  if (result.reference_stop) return result;
  result = settle_jumps(equipment, config,
                        trial::run_trial(config, *equipment.executor, equipment.device));
  if (error(result) == nullptr || config.order.kind == language::ProgramOrder::Kind::forwards ||
      !equipment.executor->set_order({}))
    return result;
  const auto kind = config.order.kind;
  config.order = {};
  trial::TrialResult in_order = trial::run_trial(config, *equipment.executor, equipment.device);
  if (in_order.candidate_stop || in_order.reference_stop || in_order.difference) return in_order;
  VerdictError race = *error(result);
  race.message = (kind == language::ProgramOrder::Kind::lanes_apart
                      ? "where threads see each other's stores only after tl.debug_barrier(): "
                      : "with programs in another order: ") +
                 race.message;
  race.error_class = ErrorClass::race;
  in_order.difference = std::move(race);
  std::ranges::move(result.findings, std::back_inserter(in_order.findings));
  return in_order;
}

trial::TrialResult run_usable_trial(Equipment& equipment, trial::TrialConfig config,
                                    const Soundness& plain) {
  // The first trial watches what kernels write, and closely checks for writes beside their buffers.
  const bool is_first = config.trial == 0;
  if (equipment.cuda != nullptr) {
    equipment.cuda->observe_with(
        is_first || config.kernels.copies ? &equipment.gpu->kernels() : nullptr,
        replay::kKernelPatience);
    equipment.gpu->guard_with(is_first ? device::CudaDevice::kWideGuard
                                       : device::CudaDevice::kNarrowGuard);
  }
  trial::TrialResult result = run_ordered_trial(equipment, config);
  if (config.kind == trial::Perturbation::plain || plain.holds_for(result)) return result;
  config.weights = trial::WeightChange::gentle;
  result = run_ordered_trial(equipment, config);
  if (plain.holds_for(result)) return result;
  config.kind = trial::Perturbation::plain;
  config.weights = trial::WeightChange::strong;
  if (!config.task.parameters.empty()) result = run_ordered_trial(equipment, config);
  if (!config.task.parameters.empty() && plain.holds_for(result)) return result;
  config.weights.reset();
  return run_ordered_trial(equipment, config);
}

bool run_trials(Equipment& equipment, const TrialContext& given, PlanJudgement& judgement) {
  TrialContext context = given;  // the first trial tells whether the reference is finite
  RefereeReport& report = judgement.report;
  report.numerics = Numerics{};
  Soundness plain;
  trial::KernelUse kernel_use{.torch_computed =
                                  trial::computes_in_torch(context.candidate, context.job.policy)};
  trial::ConstantFactors constants(context.candidate, context.task, context.job.policy);
  for (int trial = 0; trial < std::max(1, context.job.trials); ++trial) {
    if (trial == timed_trial(equipment, context)) continue;  // the timed trial comes last
    trial::TrialConfig config = context.config_of(trial, trial::perturbation_of_trial(trial));
    config.kernels.needed = kernel_use.needless.stands || kernel_use.does_little();
    config.kernels.copies = watches(kernel_use);
    config.kernels.factors = constants.watches();
    trial::TrialResult result = run_usable_trial(equipment, config, plain);
    kernel_use.needless.note(result.right_without_kernels, result.needless_is_inconclusive);
    kernel_use.copies.note(result.kernels_only_copied, result.copying_is_inconclusive);
    kernel_use.note_share(result.needed_share);
    if (result.factors) constants.note(*result.factors);
    add_trial(report, result);
    const bool ran = !result.candidate_stop && !result.reference_stop;
    if (!result.no_oracle.empty())
      add_findings(report, {missing_oracle_note("in float64: " + result.no_oracle)});
    if (trial == 0) {
      if (result.forward_refused && !result.candidate_stop)
        judgement.refusal = result.reference_stop->error;
      add_findings(report, trial::find_evidence(context.candidate, ran ? &result.launches : nullptr,
                                                context.task, context.job.policy));
      report.ran = ran;
      plain = soundness_of(context.task, result);
      context.is_finite = plain.is_finite;
    }
    if (trial == 0 && ran && context.candidate.first_call) {
      if (!run_first_call(equipment, context, report)) return false;
      blame_what_is_kept(context.candidate, result);
    }
    if (ends_job(report, result, context.deadline)) return false;
    if (trial == 0 && (!run_in_stream_orders(equipment, context, report) ||
                       !run_as_tuned(equipment, context, report)))
      return false;
    ++report.numerics->trials;
    if (trial == 0 && result.reference_keeps_state && !context.task.first_call_only &&
        context.python_reference == nullptr && !run_later_call(equipment, context, report))
      return false;
  }
  const bool survives = run_extreme_trials(equipment, context, kernel_use, report) &&
                        run_counter_trials(equipment, context, plain, report);
  if (equipment.cuda != nullptr) equipment.cuda->observe_with(nullptr);
  add_findings(report, trial::find_unused_kernels(context.candidate, kernel_use));
  add_findings(report, constants.findings());
  if (survives && run_in_other_orders(equipment, context, report))
    run_other_choices(equipment, context, report);
  if (is_timed(equipment, context.job) && !report.error)
    time_plans(equipment, context, plain, report);
  report.correct = !report.error;
  return report.correct;
}

}  // namespace tritonsmith::gym::referee
