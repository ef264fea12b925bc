#include "gym/referee/extreme_trials.h"

#include <algorithm>
#include <set>

#include "gym/referee/report_entries.h"
#include "gym/referee/rounding_errors.h"
#include "gym/referee/run_trials.h"
#include "gym/trial/perturb/input_changes.h"
#include "gym/trial/weakness.h"

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
  config.kernels.needed = kernel_use.needless.is_open() || kernel_use.does_little();
  config.kernels.copies = watches(kernel_use);
  if (equipment.cuda != nullptr)
    equipment.cuda->observe_with(config.kernels.copies ? &equipment.gpu->kernels() : nullptr,
                                 replay::kKernelPatience);
  auto [result, is_conclusive] =
      run_conclusively(equipment, context.task, context.is_finite, config);
  if (!is_conclusive) return TrialOutcome::nothing;
  tell_weakness(equipment, config, result);
  const bool ran = !result.reference_stop && !result.candidate_stop;
  if (ran && config.kernels.copies)
    kernel_use.copies.note(result.kernels_only_copied, result.copying_is_inconclusive);
  if (ran) kernel_use.note_share(result.needed_share);
  if (ran && config.kernels.needed)
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

// A weak algorithm is told and not refused, because nothing is missing or wrong in it.
void tell_weakness(Equipment& equipment, const trial::TrialConfig& config,
                   trial::TrialResult& result) {
  if (!trial::row_of(config.kind).shows_weakness || result.is_stopped() || !result.difference ||
      result.difference->error_class != ErrorClass::wrong_value || !result.errors)
    return;
  const std::optional<int> digits = trial::lost_digits(result.errors->errors);
  if (!digits || !are_rounding_errors(equipment, config, *result.errors)) return;
  result.findings.push_back(
      {.rule = "numerically_weak",
       .severity = Severity::warn,
       .message = fmt::format("with {}, about {} of the digits that PyTorch keeps are lost. A "
                              "variance as the difference of two means does so: subtract the mean "
                              "before squaring",
                              trial::what_is_done(config.kind), *digits)});
  result.difference.reset();
}

bool says_nothing(const trial::TrialResult& result, trial::Perturbation kind,
                  const plan::Plan& task, bool finite_else) {
  if (result.reference_stop) return !broke_off(*result.reference_stop);
  const trial::PerturbationRow& row = trial::row_of(kind);
  const bool is_precise =
      result.is_exact_known ? result.reference_error <= trial::kPreciseShare : row.moves_a_little;
  const bool is_finite = result.reference_is_finite || !finite_else || row.makes_specials;
  if (result.candidate_stop || result.breaks_down) return false;
  if (result.is_undecided) return true;
  const bool is_chaos =
      row.only_overflow_counts || (row.spoils_scores && trial::decides_by_scores(task));
  return is_chaos || !(is_finite && is_precise);
}

ExtremeTrial run_conclusively(Equipment& equipment, const plan::Plan& task, bool finite_else,
                              trial::TrialConfig& config) {
  const bool is_bounded = trial::InputChanges(task).has_bounded_input();
  const auto run = [&]() -> ExtremeTrial {
    trial::TrialResult result = run_ordered_trial(equipment, config);
    // A recurrence grows without end on what is no gate any more.
    const bool grows =
        is_bounded && !config.within_bounds && result.reference_is_large && !result.candidate_stop;
    const bool is_conclusive = !grows && !says_nothing(result, config.kind, task, finite_else);
    return {.result = std::move(result), .is_conclusive = is_conclusive};
  };
  ExtremeTrial trial = run();
  // The bounds of a draw may be those of the task's domain, as of probabilities.
  if (trial.is_conclusive || !is_bounded) return trial;
  config.within_bounds = true;
  return run();
}

bool run_extreme_trials(Equipment& equipment, const TrialContext& context,
                        trial::KernelUse& kernel_use, RefereeReport& report) {
  std::set<trial::Perturbation> right;
  const trial::TaskForm form = trial::form_of(context.task);
  for (const trial::Perturbation kind : trial::extreme_perturbations(context.task)) {
    if (trial::says_what_others_said(kind, right, form)) continue;
    const TrialOutcome outcome = run_extreme_trial(equipment, context, kind, kernel_use, report);
    if (outcome == TrialOutcome::wrong) return false;
    if (outcome == TrialOutcome::right) right.insert(kind);
  }
  const bool is_open =
      kernel_use.needless.is_open() || (watches(kernel_use) && kernel_use.copies.is_open());
  return !is_open || run_extreme_trial(equipment, context, trial::Perturbation::negated, kernel_use,
                                       report) != TrialOutcome::wrong;
}

}  // namespace tritonsmith::gym::referee
