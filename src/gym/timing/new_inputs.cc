#include "gym/timing/new_inputs.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>

#include "gym/timing/sampling.h"
#include "gym/trial/jumps.h"
#include "gym/trial/oracle.h"
#include "gym/trial/perturb/perturbation.h"
#include "gym/trial/weakness.h"

namespace tritonsmith::gym::timing {
namespace {

constexpr int kMost = 8;   // the largest number of new inputs, while the candidate is fast on none
constexpr int kAgain = 3;  // further runs on an input on which the first run was slow

void seed_draws(const TimedSides& sides, int nth) {
  const std::uint64_t seed = trial::trial_seed(sides.trial.config.secret, "new draws", nth);
  sides.reference.replay().seed_draws(seed);
  sides.candidate.replay().seed_draws(seed);
}

std::optional<replay::Stop> draw_inputs(const TimedSides& sides, int nth) {
  auto stop = sides.reference.prepare(tensors::Filler::zero);
  if (!stop) {
    sides.device.seed(trial::trial_seed(sides.trial.config.secret, "new inputs", nth));
    stop = sides.reference.replay().run(plan::Phase::inputs);
  }
  return stop ? std::optional(as_task_failure(std::move(*stop))) : std::nullopt;
}

// Binds the nth inputs: copies them into the memory of the candidate's inputs, so that their
// addresses stay the same.
std::optional<replay::Stop> bind_inputs(const TimedSides& sides, tensors::Filler filler, int nth) {
  seed_draws(sides, nth);
  if (auto stop = sides.candidate.prepare(filler)) return stop;
  if (auto stop = draw_inputs(sides, nth)) return stop;
  const std::vector<int> ours = trial::input_tensors(sides.trial.config.task);
  const std::vector<int> theirs = trial::input_tensors(sides.candidate.plan());
  for (std::size_t k = 0; k < ours.size(); ++k) {
    const at::Tensor& drawn = tensors::tensor_at(sides.reference.replay().tensors(), ours[k]);
    const at::Tensor& met = tensors::tensor_at(sides.candidate.replay().tensors(), theirs[k]);
    if (drawn.storage().nbytes() != met.storage().nbytes())
      return replay::Stop{.error = {.error_class = ErrorClass::task_failed,
                                    .message = "inputs that were drawn again have another size"}};
    if (drawn.storage().nbytes() > 0)
      tensors::storage_bytes(met).copy_(tensors::storage_bytes(drawn));
  }
  return std::nullopt;
}

// Returns the values that the reference also has where the candidate is wrong (trial/jumps.h). The
// reference's outputs are those of its last run.
std::vector<trial::ElementValues> jumps_on(
    const TimedSides& sides, const tensors::TensorTable& tensors, const tensors::TensorTable& exact,
    const std::function<std::optional<replay::Stop>()>& bring_inputs) {
  const auto outputs = [&] {
    return trial::flat_outputs(sides.trial.task().outputs, sides.reference.replay().tensors());
  };
  const auto wrong =
      trial::few_wrong_elements(trial::flat_outputs(sides.candidate.plan().outputs, tensors),
                                outputs(), trial::comparison_of(sides.trial));
  if (wrong.empty()) return {};
  const auto first = trial::values_at(wrong, outputs());
  if (!exact.empty()) {
    const auto in_float64 =
        trial::values_at(wrong, trial::flat_outputs(sides.trial.task().outputs, exact));
    if (auto confirmed = trial::confirmed_by_exact(wrong, first, in_float64); !confirmed.empty())
      return confirmed;
  }
  if (!trial::rounding_may_decide(sides.trial.config)) return {};
  return trial::search_jumps(
      wrong, first,
      [&](const trial::Nudge& nudge) -> std::optional<std::vector<trial::ElementValues>> {
        if (bring_inputs()) return std::nullopt;
        for (const int input : trial::input_tensors(sides.trial.config.task))
          trial::nudge(nudge, tensors::tensor_at(sides.reference.replay().tensors(), input));
        if (run_reference_in(sides, Setting::full_float32, nudge))
          return std::vector<trial::ElementValues>();
        return trial::values_at(wrong, outputs());
      });
}

// Compares the candidate's outputs with the reference in full float32, then with the
// reference as it is timed. At last it also uses exact values, because only these tell how
// coarse the reference is.
tl::expected<std::optional<VerdictError>, replay::Stop> difference(const TimedSides& sides,
                                                                   int nth) {
  const tensors::TensorTable& tensors = sides.candidate.replay().tensors();
  // a reference may change its inputs
  const auto bring_inputs = [&] { return draw_inputs(sides, nth); };
  std::optional<VerdictError> wrong;
  auto stop = ask_until_right(sides, bring_inputs, [&](double coarseness) {
    wrong = compare_sides(sides, tensors, {}, {.coarseness = coarseness});
    return !wrong;
  });
  if (stop) return tl::unexpected(*std::move(stop));
  if (!wrong) return wrong;
  if ((stop = bring_inputs())) return tl::unexpected(*std::move(stop));
  const tensors::TensorTable exact = trial::run_oracle_now(sides.trial).exact;
  if (exact.empty() && sides.trial.config.with_oracle && sides.trial.reference_replays())
    return tl::unexpected(
        replay::Stop{.error = {.error_class = ErrorClass::too_large_to_evaluate,
                               .message = "on new inputs after the timed rounds: outside the plain "
                                          "tolerance, and no room or time for exact values"}});
  if ((stop = run_reference_in(sides, Setting::full_float32)))
    return tl::unexpected(*std::move(stop));
  wrong = compare_sides(sides, tensors, exact, {});
  if (!wrong || wrong->error_class != ErrorClass::wrong_value || !sides.trial.config.finds_jumps())
    return wrong;
  const auto adopted = jumps_on(sides, tensors, exact, bring_inputs);
  if (adopted.empty()) return wrong;
  if ((stop = bring_inputs()) || (stop = run_reference_in(sides, Setting::full_float32)))
    return tl::unexpected(*std::move(stop));
  trial::write_values(adopted, sides.trial, exact);
  return compare_sides(sides, tensors, exact, {});
}

std::optional<replay::Stop> check(const TimedSides& sides, int nth) {
  auto wrong = difference(sides, nth);
  if (!wrong) return std::move(wrong.error());
  trial::forget_expected(sides.trial);
  if (!*wrong) return std::nullopt;
  (*wrong)->message = "on new inputs after the timed rounds: " + (*wrong)->message;
  return replay::Stop{.error = **std::move(wrong), .fault = Fault::candidate};
}

bool is_slower(double ms, double than_ms) {
  // docs/results/replay-timing.md has the measurement behind these numbers.
  constexpr double share = 1.05, milliseconds = 0.003;
  return ms > share * than_ms + milliseconds;
}

// Draws the nth inputs, times one run of the candidate on them, and checks its outputs.
tl::expected<double, replay::Stop> meet(const TimedSides& sides, tensors::Filler filler, int nth,
                                        const TimeOnce& time_once) {
  if (auto stop = bind_inputs(sides, filler, nth)) return tl::unexpected(*std::move(stop));
  auto took = time_once();
  if (!took) return took;
  if (auto stop = check(sides, nth)) return tl::unexpected(*std::move(stop));
  return took;
}

}  // namespace

tl::expected<NewInputs, replay::Stop> time_on_new_inputs(const TimedSides& sides,
                                                         tensors::Filler filler, double rounds_ms,
                                                         const TimeOnce& time_once) {
  NewInputs met;
  for (int nth = 0; nth < kMost; ++nth) {
    const auto first = meet(sides, filler, nth, time_once);
    if (!first) return tl::unexpected(first.error());
    met.first_ms.push_back(*first);
    if (!is_slower(*first, rounds_ms)) break;
    std::vector<double> again;
    for (int call = 0; call < kAgain; ++call) {
      const auto took = meet(sides, filler, nth, time_once);
      if (!took) return tl::unexpected(took.error());
      again.push_back(*took);
    }
    met.again_ms.push_back(timing_of(std::move(again)).median);
  }
  return met;
}

std::optional<Finding> judge_new_inputs(double rounds_ms, const NewInputs& met) {
  const double best = *std::ranges::min_element(met.first_ms);
  if (!is_slower(best, rounds_ms)) return std::nullopt;
  bool remembers = true;
  for (std::size_t k = 0; k < met.again_ms.size(); ++k)
    remembers = remembers && is_slower(met.first_ms[k], met.again_ms[k]);
  const std::string times = fmt::format(
      "forward took {:.4f} ms again and again on the same inputs, but no less than "
      "{:.4f} ms on new ones",
      rounds_ms, best);
  if (remembers)
    return Finding{.rule = "remembered_results",
                   .severity = Severity::reject,
                   .message = times + ": it uses what earlier calls left"};
  return Finding{.rule = "time_depends_on_data",
                 .severity = Severity::note,
                 .message = times + ", there too in later calls: the time on new ones counts"};
}

}  // namespace tritonsmith::gym::timing
