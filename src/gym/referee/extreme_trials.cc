#include "gym/referee/extreme_trials.h"

#include "gym/referee/report_entries.h"
#include "gym/referee/run_trials.h"

namespace tritonsmith::gym::referee {
namespace {

// Says whether the stop comes from broken machinery, or from lack of time or memory. A reference
// that only refuses its inputs did not break off.
bool broke_off(const replay::Stop& stop) {
  return stop.fault == Fault::infrastructure ||
         stop.error.error_class == ErrorClass::too_large_to_evaluate;
}

enum class TrialOutcome { nothing, right, wrong };

TrialOutcome run_extreme_trial(Equipment& equipment, const TrialContext& context,
                               trial::Perturbation kind, trial::KernelUse& kernel_use,
                               RefereeReport& report) {
  trial::TrialConfig config = context.config_of(context.job.trials, kind);
  config.try_without_kernels = kernel_use.needless.is_open();
  config.watch_launches = watches(context.job.policy, kernel_use);
  if (equipment.cuda != nullptr)
    equipment.cuda->observe_with(config.watch_launches ? &equipment.gpu->kernels() : nullptr,
                                 replay::kKernelPatience);
  const trial::TrialResult result = run_ordered_trial(equipment, config);
  if (says_nothing(result, kind, context.task, context.is_finite)) return TrialOutcome::nothing;
  const bool ran = !result.reference_stop && !result.candidate_stop;
  if (ran && config.watch_launches)
    kernel_use.copies.note(result.kernels_only_copied, result.copying_is_inconclusive);
  if (ran && config.try_without_kernels)
    kernel_use.needless.note(result.right_without_kernels, result.needless_is_inconclusive);
  const Numerics before = *report.numerics;
  add_trial(report, result);
  report.numerics = before;  // differences in these trials have another scale
  if (!ends_job(report, result, context.deadline)) return TrialOutcome::right;
  if (report.fault != Fault::infrastructure)
    report.error->message =
        fmt::format("with {}: {}", trial::what_is_done(kind), report.error->message);
  return TrialOutcome::wrong;
}

}  // namespace

bool says_nothing(const trial::TrialResult& result, trial::Perturbation kind,
                  const plan::Plan& task, bool finite_else) {
  if (result.reference_stop) return !broke_off(*result.reference_stop);
  const bool is_precise = result.is_exact_known ? result.reference_error <= trial::kPreciseShare
                                                : trial::moves_a_little(kind);
  const bool is_finite = result.reference_is_finite || !finite_else;
  if (result.candidate_stop || result.breaks_down) return false;
  const bool is_chaos = kind == trial::Perturbation::heavy ||
                        (kind == trial::Perturbation::spiked && trial::decides_by_scores(task));
  return is_chaos || !(is_finite && is_precise);
}

bool run_extreme_trials(Equipment& equipment, const TrialContext& context,
                        trial::KernelUse& kernel_use, RefereeReport& report) {
  bool is_known_far_above = false;
  for (const trial::Perturbation kind : trial::extreme_perturbations(context.task)) {
    if (kind == trial::Perturbation::above && is_known_far_above) continue;
    const TrialOutcome outcome = run_extreme_trial(equipment, context, kind, kernel_use, report);
    if (outcome == TrialOutcome::wrong) return false;
    if (kind == trial::Perturbation::shifted) is_known_far_above = outcome == TrialOutcome::right;
  }
  const bool is_open = kernel_use.needless.is_open() ||
                       (watches(context.job.policy, kernel_use) && kernel_use.copies.is_open());
  return !is_open || run_extreme_trial(equipment, context, trial::Perturbation::negated, kernel_use,
                                       report) != TrialOutcome::wrong;
}

}  // namespace tritonsmith::gym::referee
