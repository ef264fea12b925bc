#include "gym/referee/extreme_trials.h"

#include <algorithm>
#include <chrono>
#include <set>

#include "gym/plan/analysis/cost/plan_needs.h"
#include "gym/plan/operators/operator_traits.h"
#include "gym/referee/report_entries.h"
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

// Adds the candidate's errors in this trial with its results rounded otherwise.
void add_roundings(Equipment& evaluator, trial::TrialConfig config, trial::RoundingSpread& spread) {
  std::uint32_t nth = 0;
  for (const std::uint32_t width : trial::kRoundingWidths) {
    if (spread.is_measured()) return;
    for (int round = 0; round < trial::kRoundings && !config.deadline.passed(); ++round) {
      config.rounding = {.width = width, .round = ++nth};
      const trial::TrialResult rounded =
          trial::run_trial(config, *evaluator.executor, evaluator.device);
      if (!rounded.is_stopped() && rounded.errors) spread.add(*rounded.errors, width);
    }
  }
}

// A GPU rounds in one way only. So the evaluator repeats the trial, with inputs of its own drawing, and the
// largest error of the GPU is compared with the widest spread. Returns nothing for a trial that is too large.
std::optional<bool> is_rounding_of_gpu(Equipment& evaluator, trial::TrialConfig config,
                                       const trial::OutputErrors& errors) {
  constexpr double most_bytes = 256 << 20;
  constexpr std::int64_t most_memory = std::int64_t{2} << 30;
  constexpr auto patience = std::chrono::seconds(20);
  if (config.python_reference != nullptr ||
      plan::analysis::needed_bytes(config.task, config.candidate) > most_bytes)
    return std::nullopt;
  config.deadline = Deadline::after(patience);
  config.memory_bytes = most_memory;
  config.fused = nullptr;
  config.rounding = {.width = trial::kRoundingWidths[0]};
  const trial::TrialResult first = trial::run_trial(config, *evaluator.executor, evaluator.device);
  if (first.is_stopped() || !first.errors) return std::nullopt;
  trial::RoundingSpread spread(*first.errors);
  add_roundings(evaluator, config, spread);
  if (!spread.is_measured()) return std::nullopt;
  return spread.may_explain(errors);
}

// Says whether these errors of a trial become others when its inputs move by a few roundings.
bool is_nudged_noise(Equipment& equipment, trial::TrialConfig config,
                     const trial::OutputErrors& errors, trial::NudgeForm form) {
  trial::RoundingNoise noise(errors);
  for (const double units : trial::kNudges) {
    config.nudge = {.units = units, .form = form};
    const trial::TrialResult nudged =
        trial::run_trial(config, *equipment.executor, equipment.device);
    if (!nudged.is_stopped() && nudged.errors) noise.add(*nudged.errors);
  }
  return noise.is_shown();
}

// Says whether forward looks at the bits of a number. Where a kernel does as the task does, its results jump
// as soon as it loads other bits, and such jumps would explain any error.
bool looks_at_bits(const plan::Plan& task) {
  return std::ranges::any_of(task.steps, [](const plan::PlanStep& step) {
    const auto* call = std::get_if<plan::AtenCall>(&step.action);
    return call != nullptr && plan::operators::depends_on_width(call->op);
  });
}

// Says whether rounding explains these errors of a trial. Nudges move the inputs of both sides, so they
// also tell for a task that looks at bits.
bool is_rounding(Equipment& equipment, trial::TrialConfig config,
                 const trial::OutputErrors& errors) {
  config.watch_launches = config.try_without_kernels = config.finds_jumps = false;
  const bool rounds = !looks_at_bits(config.task);
  if (rounds && equipment.executor->set_rounding({})) {
    trial::RoundingSpread spread(errors);
    add_roundings(equipment, config, spread);
    return spread.explains();
  }
  if (rounds && equipment.evaluator != nullptr)
    if (const auto explained = is_rounding_of_gpu(*equipment.evaluator, config, errors))
      return *explained;
  return is_nudged_noise(equipment, config, errors, trial::NudgeForm::uniform) ||
         is_nudged_noise(equipment, config, errors, trial::NudgeForm::by_element);
}

enum class TrialOutcome { nothing, right, wrong };

TrialOutcome run_extreme_trial(Equipment& equipment, const TrialContext& context,
                               trial::Perturbation kind, trial::KernelUse& kernel_use,
                               RefereeReport& report) {
  trial::TrialConfig config = context.config_of(context.job.trials, kind);
  config.try_without_kernels = kernel_use.needless.is_open() || kernel_use.does_little();
  config.watch_launches = watches(kernel_use);
  if (equipment.cuda != nullptr)
    equipment.cuda->observe_with(config.watch_launches ? &equipment.gpu->kernels() : nullptr,
                                 replay::kKernelPatience);
  auto [result, is_conclusive] =
      run_conclusively(equipment, context.task, context.is_finite, config);
  if (!is_conclusive) return TrialOutcome::nothing;
  tell_weakness(equipment, config, result);
  const bool ran = !result.reference_stop && !result.candidate_stop;
  if (ran && config.watch_launches)
    kernel_use.copies.note(result.kernels_only_copied, result.copying_is_inconclusive);
  if (ran) kernel_use.note_share(result.needed_share);
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

// A weak algorithm is told and not refused, because nothing is missing or wrong in it.
void tell_weakness(Equipment& equipment, const trial::TrialConfig& config,
                   trial::TrialResult& result) {
  if (!trial::row_of(config.kind).shows_weakness || result.is_stopped() || !result.difference ||
      result.difference->error_class != ErrorClass::wrong_value || !result.errors)
    return;
  const std::optional<int> digits = trial::lost_digits(result.errors->errors);
  if (!digits || !is_rounding(equipment, config, *result.errors)) return;
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
