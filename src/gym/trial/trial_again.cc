// The part of a Trial that is about more than one call of forward: what the reference keeps from
// one to the next, and who keeps something that the reference does not.
#include <ATen/ATen.h>

#include <algorithm>

#include "gym/device/copies.h"
#include "gym/trial/perturbation.h"
#include "gym/trial/trial.h"
#include "gym/trial/weights.h"

namespace tritonsmith::gym::trial {

// What nothing but its own count reads is nobody's loss.
void Trial::remember_unmatched(const std::vector<WeightPair>& pairs) {
  if (!reference_replays()) return;
  tensors::TensorTable before;
  for (const plan::PlanParameter& parameter : config_.task.parameters) {
    const auto is_it = [&](const WeightPair& pair) { return pair.reference == parameter.tensor; };
    if (std::ranges::any_of(pairs, is_it) || parameter.name.ends_with("num_batches_tracked"))
      continue;
    unmatched_.push_back({.name = parameter.name, .reference = parameter.tensor});
    before.push_back(tensors::tensor_at(reference_.tensors(), parameter.tensor));
  }
  if (before.empty()) return;
  std::vector<device::Snapshot> snapshots = device_.snapshots(before);
  for (std::size_t k = 0; k < unmatched_.size(); ++k)
    unmatched_[k].before = std::move(snapshots[k]);
}

// Runs both once on inputs of their own, which nobody looks at. What the reference's weights and
// buffers hold then is the candidate's as well. False when the trial ends here.
bool Trial::call_before() {
  run_candidate();
  if (result_.candidate_stop || device_.spent()) return false;
  run_reference();
  await_reference();
  if (result_.reference_stop) return false;
  forget_expected();
  const c10::InferenceMode no_gradients(true);
  std::erase_if(shared_, [](const Shared& each) { return each.is_input; });
  for (const Shared& each : shared_)
    tensors::tensor_at(candidate_.tensors(), each.candidate)
        .copy_(tensors::tensor_at(reference_.tensors(), each.reference));
  unmatched_.clear();  // the first call has shown what becomes of them
  own_state_.clear();
  seed("other inputs");
  result_.reference_stop = reference_.run(plan::Phase::inputs);
  if (result_.reference_stop || !share_inputs()) return false;
  remember_shared();
  keep_own_state();
  return true;
}

// Nothing where the reference itself carries something on, or does not run once more.
std::optional<VerdictError> Trial::answer_other_inputs() {
  const auto changed = [&](const Shared& each) {
    return !each.is_input &&
           !device_.unchanged(tensors::tensor_at(reference_.tensors(), each.reference),
                              each.before);
  };
  if (std::ranges::any_of(shared_, changed)) return std::nullopt;
  const tensors::TensorTable first = reference_.tensors();
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
  const auto ran = [&](plan::Phase phase) {
    const bool by_shell = phase == plan::Phase::forward && !reference_replays();
    auto stop = by_shell ? ask_shell() : reference_.run(phase);
    if (auto late = device_.wait(config_.deadline); late && !stop)
      stop = replay::Stop{.error = std::move(*late), .fault = Fault::none};
    if (stop && stop->fault == Fault::none) result_.reference_stop = stop;  // time that is gone
    return !stop;
  };
  seed("other inputs");
  if (!ran(plan::Phase::inputs)) return std::nullopt;
  constexpr std::string_view draws = "other draws";
  reference_.seed_draws(seed_of(draws));
  if (reference_.draw_again()) return std::nullopt;
  tensors::TensorTable drawn;
  for (const int index : input_tensors(config_.task))
    drawn.push_back(tensors::tensor_at(reference_.tensors(), index));
  tensors::TensorTable copies = device::copy_with_storages(drawn, device_);
  auto again = another_replay(candidate_.tensors(), replay::Launches::run, filler_);
  if (!again) return std::nullopt;
  const std::vector<int> theirs = input_tensors(config_.candidate);
  for (std::size_t k = 0; k < theirs.size(); ++k) again->bind(theirs[k], std::move(copies[k]));
  const auto stop = run_again(*again, draws);
  if (result_.candidate_stop) return std::nullopt;
  if (stop) return stop->error;
  device_.set_filler(tensors::Filler::zero);
  tensors::TensorTable exact;
  if (reference_replays()) exact = exact_again();
  seed("forward");
  if (!ran(plan::Phase::forward)) return std::nullopt;
  if (!reference_replays()) exact = run_oracle();
  Numerics ignored;
  auto difference = compare::compare_outputs({config_.candidate.outputs, again->tensors()},
                                             {task().outputs, reference_.tensors()}, exact,
                                             comparison(), ignored);
  forget_expected();
  return difference;
}

}  // namespace tritonsmith::gym::trial
