#include "gym/referee/counter_trials.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "gym/referee/report_entries.h"
#include "gym/referee/task_domain.h"

namespace tritonsmith::gym::referee {
namespace {

using plan::analysis::CallCounter;

bool is_wrong(const trial::TrialResult& result) {
  return result.candidate_stop.has_value() || result.difference.has_value();
}

class CounterTrials {
 public:
  CounterTrials(Equipment& equipment, const TrialContext& context, const Soundness& plain,
                const std::vector<CallCounter>& counters)
      : equipment_(equipment), context_(context), plain_(plain), counters_(counters) {}

  // Returns the result of a trial that begins after so many calls, or nothing if the reference has no
  // sound answer there. Weights change as well, if it is sound then.
  std::optional<trial::TrialResult> run(const plan::Plan& task, std::int64_t calls) const {
    trial::TrialConfig config = config_of(task, calls);
    if (!takes_counts(equipment_, config)) return std::nullopt;
    config.weights = trial::WeightChange::gentle;
    trial::TrialResult result = run_ordered_trial(equipment_, config);
    if (plain_.holds_for(result)) return result;
    config.weights.reset();
    result = run_ordered_trial(equipment_, config);
    return plain_.holds_for(result) ? std::optional(std::move(result)) : std::nullopt;
  }

 private:
  trial::TrialConfig config_of(const plan::Plan& task, std::int64_t calls) const {
    const TrialContext of_task{context_.job,         task,
                               context_.candidate,   context_.deadline,
                               context_.with_oracle, context_.python_reference,
                               context_.mode};
    trial::TrialConfig config = of_task.config_of(context_.job.trials, trial::Perturbation::plain);
    config.numbers = &context_.numbers;
    config.counters = &counters_;
    config.calls_before = calls;
    return config;
  }

  Equipment& equipment_;
  const TrialContext& context_;
  const Soundness& plain_;
  const std::vector<CallCounter>& counters_;
};

// Adds the trial to the report. Returns false if the job ends here.
bool goes_on(const TrialContext& context, const trial::TrialResult& result, std::int64_t calls,
             RefereeReport& report) {
  const Numerics before = *report.numerics;
  add_trial(report, result);
  report.numerics = before;  // differences in these trials have another scale
  if (!ends_job(report, result, context.deadline)) return true;
  if (report.fault != Fault::infrastructure)
    report.error->message = fmt::format("where the module's counters say {} earlier calls: {}",
                                        calls, report.error->message);
  return false;
}

}  // namespace

std::vector<std::int64_t> calls_to_try(const plan::Plan& task,
                                       const std::vector<CallCounter>& counters,
                                       std::string_view secret) {
  constexpr std::uint64_t small = 11, large = 1000;  // 2 to 12, 500 to 1499
  constexpr std::size_t most = 16;
  Rng rng(trial::trial_seed(secret, "calls", 0), "calls", 0);
  const std::int64_t limit = plan::analysis::most_calls(task, counters);
  const auto one = static_cast<std::int64_t>(rng.below(small)),
             other = (one + 1 + static_cast<std::int64_t>(rng.below(small - 1))) % 11;
  std::set<std::int64_t> calls = {2 + one, 2 + other,
                                  500 + static_cast<std::int64_t>(rng.below(large))};
  std::vector<std::int64_t> telling = plan::analysis::telling_calls(task, counters);
  while (!telling.empty() && calls.size() < most) {
    const auto at = telling.begin() + static_cast<std::ptrdiff_t>(rng.below(telling.size()));
    calls.insert(*at);
    telling.erase(at);
  }
  std::erase_if(calls, [&](std::int64_t each) { return each > limit; });
  return {calls.begin(), calls.end()};
}

bool holds_counters(const plan::Plan& task, const plan::Plan& candidate,
                    const std::vector<CallCounter>& counters) {
  const auto declared = [](const plan::Plan& plan, int tensor) -> const plan::PlanTensor& {
    return plan.tensors.at(static_cast<std::size_t>(tensor));
  };
  return std::ranges::all_of(counters, [&](const CallCounter& counter) {
    return std::ranges::any_of(candidate.parameters, [&](const plan::PlanParameter& each) {
      return each.name == counter.name && !each.is_read &&
             declared(candidate, each.tensor).dtype == declared(task, counter.tensor).dtype &&
             declared(candidate, each.tensor).shape == declared(task, counter.tensor).shape;
    });
  });
}

bool run_counter_trials(Equipment& equipment, const TrialContext& context, const Soundness& plain,
                        RefereeReport& report) {
  if (context.python_reference != nullptr) return true;
  const std::vector<CallCounter> of_averages = plan::analysis::counters_of_averages(context.task);
  const std::vector<CallCounter> counters =
      of_averages.empty() ? plan::analysis::call_counters(context.task) : of_averages;
  if (counters.empty() || !holds_counters(context.task, context.candidate, counters)) return true;
  const CounterTrials trials(equipment, context, plain, counters);
  for (const std::int64_t calls : calls_to_try(context.task, counters, context.job.secret)) {
    auto result = trials.run(context.task, calls);
    // The plan holds a number that Python took from the counter, and a candidate's plan may do so, too.
    // A candidate that loads the counter must be right for the number that follows from it.
    if (result && is_wrong(*result) && !of_averages.empty())
      result = trials.run(plan::analysis::after_calls(context.task, of_averages, calls), calls);
    if (result && !goes_on(context, *result, calls, report)) return false;
  }
  return true;
}

}  // namespace tritonsmith::gym::referee
