#include "gym/referee/tuned_configs.h"

#include <algorithm>

#include "gym/referee/extreme_trials.h"
#include "gym/referee/report_entries.h"
#include "gym/referee/run_trials.h"
#include "gym/replay/operator_arguments.h"
#include "gym/trial/choice_trials.h"
#include "gym/trial/findings/kernel_use.h"

namespace tritonsmith::gym::referee {
namespace {

bool run_choice_trial(Equipment& equipment, const TrialContext& context, int number,
                      const trial::ChoiceTrial& choice, RefereeReport& report) {
  const bool is_plain = choice.perturbation == trial::Perturbation::plain;
  trial::TrialConfig config = context.config_of(number, choice.perturbation, choice.choices);
  auto [result, is_conclusive] =
      is_plain ? ExtremeTrial{.result = run_ordered_trial(equipment, config), .is_conclusive = true}
               : run_conclusively(equipment, context.task, context.is_finite, config);
  if (!is_conclusive) return true;
  tell_weakness(equipment, config, result);
  const Numerics before = *report.numerics;
  add_trial(report, result);
  if (!is_plain) report.numerics = before;
  if (!ends_job(report, result, context.deadline)) return true;
  if (report.fault != Fault::infrastructure)
    report.error->message = fmt::format(
        "with {}{}: {}", replay::text_of(choice.choices, context.candidate),
        is_plain ? "" : fmt::format(" and {}", trial::what_is_done(choice.perturbation)),
        report.error->message);
  return false;
}

plan::Plan with_repeated_launches(const plan::Plan& candidate) {
  plan::Plan repeated = candidate;
  repeated.orders.clear();
  repeated.steps.clear();
  for (const plan::PlanStep& step : candidate.steps) {
    repeated.steps.push_back(step);
    if (trial::builds_on_its_stores(candidate, step)) repeated.steps.push_back(step);
  }
  return repeated;
}

}  // namespace

bool run_as_tuned(Equipment& equipment, const TrialContext& context, RefereeReport& report) {
  const plan::Plan repeated = with_repeated_launches(context.candidate);
  if (repeated.steps.size() == context.candidate.steps.size()) return true;
  const TrialContext of_repeated = context.with_candidate(repeated);
  const trial::TrialResult result =
      run_usable_trial(equipment, of_repeated.config_of(0, trial::Perturbation::plain), {});
  add_trial(report, result);
  if (!ends_job(report, result, context.deadline)) return true;
  if (report.fault == Fault::candidate)
    report.error->message =
        "after an autotuner's runs, which restore nothing (reset_to_zero, restore_value): " +
        report.error->message;
  return false;
}

bool run_other_choices(Equipment& equipment, const TrialContext& context, RefereeReport& report) {
  int number = context.job.trials;
  for (const trial::ChoiceTrial& each :
       trial::choice_trials(context.task, context.candidate, context.job.secret))
    if (!run_choice_trial(equipment, context, ++number, each, report)) return false;
  return true;
}

bool run_picked_choices(Equipment& equipment, const TrialContext& context,
                        const replay::Choices& picked, RefereeReport& report) {
  const auto is_first = [](const auto& each) { return each.second == 0; };
  if (std::ranges::all_of(picked, is_first)) return true;
  const std::vector<trial::ChoiceTrial> tried =
      trial::choice_trials(context.task, context.candidate, context.job.secret);
  int number = kBeyondAllChoices;
  for (const trial::Perturbation kind : trial::perturbations_for_choices(context.task)) {
    const trial::ChoiceTrial trial{.perturbation = kind, .choices = picked};
    if (std::ranges::find(tried, trial) == tried.end() &&
        !run_choice_trial(equipment, context, ++number, trial, report))
      return false;
  }
  return true;
}

}  // namespace tritonsmith::gym::referee
