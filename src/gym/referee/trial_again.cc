// The part of a Trial that is about more than one call of forward: what the reference keeps from
// one to the next, and who keeps something that the reference does not.
#include <ATen/ATen.h>

#include <algorithm>

#include "gym/referee/draw.h"
#include "gym/referee/trial.h"
#include "gym/referee/weights.h"

namespace tritonsmith::gym {

// What nothing but its own count reads is nobody's loss.
void Trial::remember_unmatched(const std::vector<WeightPair>& pairs) {
  if (!reference_replays()) return;
  TensorTable before;
  for (const PlanParameter& parameter : setting_.task.parameters) {
    const auto is_it = [&](const WeightPair& pair) { return pair.reference == parameter.tensor; };
    if (std::ranges::any_of(pairs, is_it) || parameter.name.ends_with("num_batches_tracked"))
      continue;
    unmatched_.push_back({.name = parameter.name, .reference = parameter.tensor});
    before.push_back(tensor_at(reference_.tensors(), parameter.tensor));
  }
  if (before.empty()) return;
  std::vector<Snapshot> snapshots = place_.snapshots(before);
  for (std::size_t k = 0; k < unmatched_.size(); ++k)
    unmatched_[k].before = std::move(snapshots[k]);
}

// Runs both once on inputs of their own, which nobody looks at. What the reference's weights and
// buffers hold then is the candidate's as well. False when the trial ends here.
bool Trial::call_before() {
  run_candidate();
  if (result_.candidate_stop || place_.spent()) return false;
  run_reference();
  await_reference();
  if (result_.reference_stop) return false;
  forget_expected();
  const c10::InferenceMode no_gradients(true);
  std::erase_if(shared_, [](const Shared& each) { return each.is_input; });
  for (const Shared& each : shared_)
    tensor_at(candidate_.tensors(), each.candidate)
        .copy_(tensor_at(reference_.tensors(), each.reference));
  unmatched_.clear();  // the first call has shown what becomes of them
  own_state_.clear();
  seed("other inputs");
  result_.reference_stop = reference_.run(Phase::inputs);
  if (result_.reference_stop || !share_inputs()) return false;
  remember_shared();
  keep_own_state();
  return true;
}

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
    const bool by_shell = phase == Phase::forward && !reference_replays();
    auto stop = by_shell ? ask_shell() : reference_.run(phase);
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
  TensorTable exact;
  if (reference_replays()) exact = exact_again();
  seed("forward");
  if (!ran(Phase::forward)) return std::nullopt;
  if (!reference_replays()) exact = run_oracle();
  Numerics ignored;
  auto difference =
      compare_outputs({setting_.candidate.outputs, again->tensors()},
                      {task().outputs, reference_.tensors()}, exact, comparison(), ignored);
  forget_expected();
  return difference;
}

}  // namespace tritonsmith::gym
