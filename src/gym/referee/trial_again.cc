// The part of a Trial that calls forward with other inputs, after the calls with its own: of
// whoever keeps something from one call to the next.
#include <ATen/ATen.h>

#include <algorithm>

#include "gym/referee/draw.h"
#include "gym/referee/trial.h"

namespace tritonsmith::gym {

// Nothing where the reference itself carries something on, or does not run once more.
std::optional<VerdictError> Trial::answer_other_inputs() {
  const auto changed = [&](const Shared& each) {
    return !each.is_input &&
           !place_.unchanged(tensor_at(reference_.tensors(), each.reference), each.before);
  };
  if (std::ranges::any_of(shared_, changed)) return std::nullopt;
  const TensorTable first = reference_.tensors();
  auto difference = differs_on_other_inputs();
  reference_.tensors() = first;
  reference_.seed_draws(seed_of("draws"));
  if (!difference) return std::nullopt;
  return VerdictError{.error_class = "state_carried",
                      .message =
                          "called next with other inputs, forward does otherwise, since it "
                          "keeps something from the call before: " +
                          difference->message};
}

std::optional<VerdictError> Trial::differs_on_other_inputs() {
  const auto ran = [&](Phase phase) {
    auto stop = reference_.run(phase);
    if (auto late = place_.wait(setting_.deadline); late && !stop)
      stop = Stop{.error = std::move(*late), .fault = Fault::none};
    if (stop && stop->fault == Fault::none) result_.reference_stop = stop;  // time that is gone
    return !stop;
  };
  seed("other inputs");
  if (!ran(Phase::inputs)) return std::nullopt;
  constexpr std::string_view draws = "other draws";
  reference_.seed_draws(seed_of(draws));
  if (reference_.draw_again()) return std::nullopt;
  TensorTable drawn;
  for (const int index : input_tensors(setting_.task))
    drawn.push_back(tensor_at(reference_.tensors(), index));
  TensorTable copies = copy_with_storages(drawn, place_);
  auto again = another_replay(candidate_.tensors(), Launches::run, filler_);
  if (!again) return std::nullopt;
  const std::vector<int> theirs = input_tensors(setting_.candidate);
  for (std::size_t k = 0; k < theirs.size(); ++k) again->bind(theirs[k], std::move(copies[k]));
  const auto stop = run_again(*again, draws);
  if (result_.candidate_stop) return std::nullopt;
  if (stop) return stop->error;
  place_.set_filler(Filler::zero);
  const TensorTable exact = exact_again();
  seed("forward");
  if (!ran(Phase::forward)) return std::nullopt;
  Numerics ignored;
  auto difference =
      compare_outputs({setting_.candidate.outputs, again->tensors()},
                      {setting_.task.outputs, reference_.tensors()}, exact, comparison(), ignored);
  forget_expected();
  return difference;
}

}  // namespace tritonsmith::gym
