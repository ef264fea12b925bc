#include "gym/referee/new_inputs.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "gym/referee/compare.h"
#include "gym/referee/draw.h"

namespace tritonsmith::gym {
namespace {

constexpr int kMost = 8;  // until a candidate is fast on one

std::optional<Stop> draw_inputs(const TimedSides& sides, int nth) {
  sides.place.seed(trial_seed(sides.trial.setting().secret, "new inputs", nth));
  auto stop = sides.reference.replay().run(Phase::inputs);
  return stop ? std::optional(as_task_failure(std::move(*stop))) : std::nullopt;
}

// Into the memory of the candidate's inputs, whose addresses stay what they were.
std::optional<Stop> bind_inputs(const TimedSides& sides, Filler filler, int nth) {
  sides.reference.prepare(Filler::zero);
  sides.candidate.prepare(filler);
  if (auto stop = draw_inputs(sides, nth)) return stop;
  const std::vector<int> ours = input_tensors(sides.trial.setting().task);
  const std::vector<int> theirs = input_tensors(sides.candidate.plan());
  for (std::size_t k = 0; k < ours.size(); ++k) {
    const at::Tensor& drawn = tensor_at(sides.reference.replay().tensors(), ours[k]);
    const at::Tensor& met = tensor_at(sides.candidate.replay().tensors(), theirs[k]);
    if (drawn.storage().nbytes() != met.storage().nbytes())
      return Stop{.error = {.error_class = "task_failed",
                            .message = "inputs that were drawn again have another size"}};
    if (drawn.storage().nbytes() > 0) storage_bytes(met).copy_(storage_bytes(drawn));
  }
  return std::nullopt;
}

std::optional<Stop> run_reference(const TimedSides& sides) {
  auto stop = sides.trial.reference_replays() ? sides.reference.run() : sides.trial.ask_shell();
  return stop ? std::optional(as_task_failure(std::move(*stop))) : std::nullopt;
}

std::optional<Stop> check(const TimedSides& sides, int nth) {
  if (auto stop = run_reference(sides)) return stop;
  const TensorTable& tensors = sides.candidate.replay().tensors();
  auto wrong = compare_sides(sides, tensors, {}, 0);
  if (wrong) {  // or the reference itself is coarse there, which only exact values can tell
    sides.reference.prepare(Filler::zero);
    if (auto stop = draw_inputs(sides, nth)) return stop;
    const TensorTable exact = sides.trial.exact_again();
    if (exact.empty() && sides.trial.setting().with_oracle && sides.trial.reference_replays())
      return Stop{.error = {.error_class = "too_large_to_evaluate",
                            .message = "on new inputs after the timed rounds: outside the plain "
                                       "tolerance, and no room or time for exact values"}};
    if (auto stop = run_reference(sides)) return stop;
    wrong = compare_sides(sides, tensors, exact, 0);
  }
  sides.trial.forget_expected();
  if (!wrong) return std::nullopt;
  wrong->message = "on new inputs after the timed rounds: " + wrong->message;
  return Stop{.error = std::move(*wrong), .fault = Fault::candidate};
}

}  // namespace

Stop as_task_failure(Stop stop) {
  if (stop.fault == Fault::infrastructure) return stop;
  stop.fault = Fault::none;
  stop.error.line = 0;
  if (stop.error.error_class != "too_large_to_evaluate") stop.error.error_class = "task_failed";
  return stop;
}

std::optional<VerdictError> compare_sides(const TimedSides& sides, const TensorTable& tensors,
                                          const TensorTable& oracle, double leeway) {
  Numerics ignored;
  return compare_outputs({sides.candidate.plan().outputs, tensors},
                         {sides.trial.task().outputs, sides.reference.replay().tensors()}, oracle,
                         {.rule = sides.trial.setting().comparison,
                          .tolerance = sides.trial.tolerance(),
                          .leeway = leeway,
                          .device = sides.place.comparison()},
                         ignored);
}

std::optional<Stop> meet_new_inputs(const TimedSides& sides, Filler filler,
                                    const TimeOnce& time_once, double rounds_ms,
                                    std::vector<Finding>& findings) {
  double best = std::numeric_limits<double>::infinity();
  std::optional<Finding> finding;
  for (int nth = 0; nth < kMost; ++nth) {
    if (auto stop = bind_inputs(sides, filler, nth)) return stop;
    const auto took = time_once();
    if (!took) return took.error();
    best = std::min(best, *took);
    if (auto stop = check(sides, nth)) return stop;
    finding = find_remembered_results(rounds_ms, best);
    if (!finding) return std::nullopt;
  }
  findings.push_back(*std::move(finding));
  return std::nullopt;
}

std::optional<Finding> find_remembered_results(double rounds_ms, double new_inputs_ms) {
  constexpr double share = 1.05, milliseconds = 0.003;  // as measured: docs/gym_on_gpu.md
  if (new_inputs_ms <= share * rounds_ms + milliseconds) return std::nullopt;
  return Finding{
      .rule = "remembered_results",
      .severity = Severity::reject,
      .message = fmt::format("forward took {:.4f} ms again and again on the same inputs, but no "
                             "less than {:.4f} ms on new ones: it uses what earlier calls left",
                             rounds_ms, new_inputs_ms)};
}

}  // namespace tritonsmith::gym
