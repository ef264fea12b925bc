#include "gym/trial/prepare.h"

#include <ATen/ATen.h>
#include <ATen/MemoryOverlap.h>
#include <c10/core/InferenceMode.h>

#include <algorithm>
#include <utility>

#include "gym/device/copies.h"
#include "gym/plan/analysis/batch_counter.h"
#include "gym/plan/analysis/tensor_names.h"
#include "gym/trial/perturb/input_changes.h"
#include "gym/trial/weakness.h"
#include "gym/trial/weights/call_counts.h"
#include "gym/trial/weights/changeable_weights.h"
#include "gym/trial/weights/weight_changes.h"
#include "gym/trial/weights/weights.h"

namespace tritonsmith::gym::trial {
namespace {

// Gives the weight's values to the candidate's tensor that was made from it.
void take_early_weight(Sides& sides, const EarlyWeight& early) {
  const at::Tensor& now = tensors::tensor_at(sides.candidate.tensors(), early.candidate);
  const at::Tensor& weight = tensors::tensor_at(sides.reference.tensors(), early.reference);
  if (at::has_internal_overlap(now) == at::MemOverlap::Yes) return;
  if (weight.numel() == now.numel())
    now.copy_(weight.reshape(now.sizes()));
  else if (now.is_contiguous() && early.first + weight.numel() <= now.numel())
    now.view(-1).narrow(0, early.first, weight.numel()).copy_(weight.flatten());
}

// Replays the candidate's constructor, from the same seed each time.
std::optional<replay::Stop> construct_candidate(Sides& sides, std::span<const EarlyWeight> early) {
  sides.seed("init");
  sides.device.set_filler(sides.filler);
  auto stop = sides.candidate.run(plan::Phase::init, [&](std::size_t step) {
    const c10::InferenceMode no_gradients(true);
    for (const EarlyWeight& each : early)
      if (each.step == step) take_early_weight(sides, each);
  });
  sides.device.set_filler(tensors::Filler::zero);
  return stop;
}

// Remembers weights that only the reference has. A buffer that only counts calls is left out: no
// output depends on it.
std::vector<UnmatchedWeight> remember_unmatched(Sides& sides,
                                                const std::vector<WeightPair>& pairs) {
  std::vector<UnmatchedWeight> unmatched;
  if (!sides.reference_replays()) return unmatched;
  tensors::TensorTable before;
  for (const plan::PlanParameter& parameter : sides.config.task.parameters) {
    const auto is_it = [&](const WeightPair& pair) { return pair.reference == parameter.tensor; };
    if (std::ranges::any_of(pairs, is_it) || plan::analysis::is_batch_counter(parameter.name))
      continue;
    unmatched.push_back({.name = parameter.name, .reference = parameter.tensor});
    before.push_back(tensors::tensor_at(sides.reference.tensors(), parameter.tensor));
  }
  if (before.empty()) return unmatched;
  std::vector<device::Snapshot> snapshots = sides.device.snapshots(before);
  for (std::size_t k = 0; k < unmatched.size(); ++k) unmatched[k].before = std::move(snapshots[k]);
  return unmatched;
}

// Gives the reference the weights of another trial, or keeps its own, where the trial asks for that.
void exchange_weights(const TrialConfig& config, const tensors::TensorTable& ours) {
  for (const plan::PlanParameter& parameter : config.task.parameters) {
    const at::Tensor& weight = tensors::tensor_at(ours, parameter.tensor);
    if (config.given != nullptr) config.given->give(parameter.tensor, weight);
    if (config.kept != nullptr) config.kept->keep(parameter.tensor, weight);
  }
}

// Changes the weights as the trial requires and gives the candidate the reference's values.
std::optional<replay::Stop> share_weights(Sides& sides, PreparedSides& prepared) {
  const TrialConfig& config = sides.config;
  tensors::TensorTable &ours = sides.reference.tensors(), &theirs = sides.candidate.tensors();
  const auto pairs = match_weights({config.task, ours}, {config.candidate, theirs});
  const auto counts = counts_after_calls(config.counters, config.calls_before, ours);
  const WeightChange change = config.weights.value_or(weight_change(config.kind));
  if (change != WeightChange::none || config.given != nullptr) {
    Rng rng(sides.seed_of("weights"), "weights", 0);
    const ChangeableWeights changeable =
        changeable_weights({config.task, ours}, {config.candidate, theirs}, pairs);
    change_weights(config.task, changeable, perturbation_of_trial(config.trial), change, rng, ours);
    exchange_weights(config, ours);
    if (!changeable.early.empty())
      if (auto stop = construct_candidate(sides, changeable.early)) return stop;
  } else {
    exchange_weights(config, ours);
  }
  set_counts(counts, ours);
  if (auto error = bind_weights(pairs, ours, theirs))
    return replay::Stop{.error = std::move(*error), .fault = Fault::candidate};
  for (const WeightPair& pair : pairs)
    prepared.shared.push_back({.what = fmt::format("`{}`", pair.name),
                               .reference = pair.reference,
                               .candidate = pair.candidate,
                               .counts_calls = plan::analysis::is_batch_counter(pair.name)});
  prepared.unmatched = remember_unmatched(sides, pairs);
  return std::nullopt;
}

void copy_inputs(std::span<device::DrawnInput> inputs, device::Device& device) {
  tensors::TensorTable drawn;
  for (device::DrawnInput& input : inputs) {
    change_input(input.change, input.drawn);
    drawn.push_back(input.drawn);
  }
  tensors::TensorTable copies = device::copy_with_storages(drawn, device);
  for (std::size_t k = 0; k < inputs.size(); ++k) inputs[k].copy = std::move(copies[k]);
}

replay::Stop refused_inputs(std::string_view how) {
  return {.error = {.error_class = ErrorClass::bad_plan,
                    .message = fmt::format("the plan has {} than its task", how)},
          .fault = Fault::candidate};
}

}  // namespace

void remember_shared(const Sides& sides, std::span<SharedTensor> shared) {
  tensors::TensorTable before;
  for (const SharedTensor& each : shared)
    if (!each.copied)
      before.push_back(tensors::tensor_at(sides.reference.tensors(), each.reference));
  if (before.empty()) return;
  std::vector<device::Snapshot> snapshots = sides.device.snapshots(before);
  auto next = snapshots.begin();
  for (SharedTensor& each : shared)
    if (!each.copied) each.before = std::move(*next++);
}

std::optional<replay::Stop> share_inputs(Sides& sides, std::vector<SharedTensor>& shared) {
  const TrialConfig& config = sides.config;
  Rng rng(sides.seed_of("perturb"), "perturb", 0);
  sides.seed("perturb");
  const std::vector<int> ours = input_tensors(config.task);
  const std::vector<int> theirs = input_tensors(config.candidate);
  const std::vector<std::string> names = plan::analysis::input_names(config.task);
  if (ours.size() != theirs.size()) return refused_inputs("another number of inputs");
  auto changes = InputChanges(config.task, config.numbers, config.within_bounds)
                     .input_changes(config.kind, rng, sides.reference.tensors());
  for (const auto* plan : {&config.task, &config.candidate})
    for (const int index : plan->read_inputs)
      if (index < std::ssize(changes)) changes[static_cast<std::size_t>(index)] = {};
  std::vector<device::DrawnInput> inputs;
  for (std::size_t k = 0; k < ours.size(); ++k) {
    inputs.push_back(
        {.drawn = tensors::tensor_at(sides.reference.tensors(), ours[k]), .change = changes[k]});
    if (config.given != nullptr && config.given->give(ours[k], inputs.back().drawn))
      inputs.back().change = {};
  }
  // A pattern or a nudge changes its input here. The device then copies the input as it is. A nudge by
  // value comes last, because a device draws the numbers of a change in its own way.
  const bool is_by_value = config.nudge.form == NudgeForm::by_value;
  for (device::DrawnInput& input : inputs)
    if (input.change.has_pattern() || (config.nudge.units != 0 && !is_by_value)) {
      change_input(input.change, input.drawn);
      input.change = {};
      nudge(config.nudge, input.drawn);
    }
  const bool remembered = sides.device.change_and_copy(inputs);
  if (!remembered) copy_inputs(inputs, sides.device);
  if (is_by_value)
    for (device::DrawnInput& input : inputs) nudge(config.nudge, input.drawn);
  if (config.kept != nullptr)
    for (std::size_t k = 0; k < ours.size(); ++k) config.kept->keep(ours[k], inputs[k].drawn);
  for (std::size_t k = 0; k < ours.size(); ++k) {
    const plan::PlanTensor& declared =
        config.candidate.tensors.at(static_cast<std::size_t>(theirs[k]));
    at::Tensor& copy = inputs[k].copy;
    if (copy.sizes() != at::IntArrayRef(declared.shape) ||
        copy.strides() != at::IntArrayRef(declared.stride) ||
        copy.scalar_type() != tensors::scalar_type_of(declared.dtype))
      return refused_inputs("an input of another shape, dtype or stride");
    sides.candidate.bind(theirs[k], std::move(copy));
    shared.push_back({.what = names.at(k),
                      .reference = ours[k],
                      .candidate = theirs[k],
                      .is_input = true,
                      .copied = remembered ? std::optional(k) : std::nullopt});
  }
  return std::nullopt;
}

namespace {

// Draws inputs for the candidate's first call, and binds copies of them.
std::optional<replay::Stop> draw_for_first_call(Sides& sides) {
  sides.seed("inputs of the first call");
  if (auto stop = sides.reference.run(plan::Phase::inputs)) return stop;
  const c10::InferenceMode no_gradients(true);
  tensors::TensorTable drawn;
  for (const int index : input_tensors(sides.config.task))
    drawn.push_back(tensors::tensor_at(sides.reference.tensors(), index));
  tensors::TensorTable copies = device::copy_with_storages(drawn, sides.device);
  std::vector<int> theirs;
  for (const plan::Value& input : sides.config.candidate.first_call->inputs)
    plan::append_tensors(input, theirs);
  // share_inputs() refuses a plan with another number of inputs.
  for (std::size_t k = 0; k < std::min(theirs.size(), copies.size()); ++k)
    sides.candidate.bind(theirs[k], std::move(copies[k]));
  return std::nullopt;
}

// Runs the candidate's first call, which sets up what later calls find. Then the weights are as
// the reference has them again.
std::optional<replay::Stop> make_first_call(Sides& sides, std::span<const SharedTensor> shared) {
  sides.seed("first call");
  sides.device.set_filler(sides.filler);
  sides.device.set_patience(Deadline::after(replay::kKernelPatience));
  auto stop = sides.candidate.run(plan::Phase::first_call);
  stop = await_candidate(sides, std::move(stop));
  sides.device.set_patience(Deadline::never());
  sides.device.set_filler(tensors::Filler::zero);
  if (stop) return stop;
  for (const SharedTensor& each : shared)
    if (!each.is_input)
      tensors::tensor_at(sides.candidate.tensors(), each.candidate)
          .copy_(tensors::tensor_at(sides.reference.tensors(), each.reference));
  return std::nullopt;
}

}  // namespace

std::optional<replay::Stop> draw_task(Sides& sides) {
  const TrialConfig& config = sides.config;
  sides.seed("init");
  if (auto stop = sides.reference.run(plan::Phase::init)) return stop;
  if (config.candidate.first_call)
    if (auto stop = draw_for_first_call(sides)) return stop;
  Rng rng(sides.seed_of("perturb"), "draws", 0);
  const auto changes = InputChanges(config.task, config.numbers, config.within_bounds)
                           .draw_changes(config.kind, rng);
  sides.seed("inputs");
  return sides.reference.run(plan::Phase::inputs, [&](std::size_t step) {
    const c10::InferenceMode no_gradients(true);
    change_draw(changes, step, config.task, sides.reference.tensors());
  });
}

tl::expected<PreparedSides, TrialResult> prepare(Sides& sides) {
  const Stopwatch watch;
  TrialResult ended;
  ended.reference_stop = draw_task(sides);
  if (ended.reference_stop) return tl::unexpected(std::move(ended));
  ended.candidate_stop = construct_candidate(sides, {});
  if (ended.candidate_stop) return tl::unexpected(std::move(ended));
  const c10::InferenceMode no_gradients(true);
  PreparedSides prepared;
  ended.candidate_stop = share_weights(sides, prepared);
  if (!ended.candidate_stop) ended.candidate_stop = share_inputs(sides, prepared.shared);
  if (!ended.candidate_stop && sides.config.candidate.first_call)
    ended.candidate_stop = make_first_call(sides, prepared.shared);
  remember_shared(sides, prepared.shared);
  prepared.own_state = remember_own_state(sides, prepared.shared);
  if (sides.config.keeping == StateKeeping::saved)
    prepared.candidate_state = save_state(sides.config.candidate, sides.candidate.tensors());
  if (sides.config.keeping == StateKeeping::watched)
    prepared.watched = watch_state(sides, prepared.shared);
  // The trial waits for the task's operators, which may fail. The device's own kernels never do.
  const bool by_device = std::ranges::all_of(
      prepared.shared, [](const SharedTensor& each) { return each.copied.has_value(); });
  if (!by_device || sides.reference.ran_operators() || sides.candidate.ran_operators())
    ended.reference_stop = await_reference(sides, std::nullopt);
  ended.draw_ms = prepared.draw_ms = watch.milliseconds();
  if (ended.is_stopped()) return tl::unexpected(std::move(ended));
  return prepared;
}

}  // namespace tritonsmith::gym::trial
