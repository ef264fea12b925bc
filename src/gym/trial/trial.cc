#include "gym/trial/trial.h"

#include <ATen/ATen.h>
#include <ATen/MemoryOverlap.h>
#include <c10/core/DefaultDtype.h>
#include <c10/core/InferenceMode.h>

#include <algorithm>
#include <set>

#include "gym/compare/compare.h"
#include "gym/device/copies.h"
#include "gym/tensors/replay_memory.h"
#include "gym/trial/changeable_weights.h"
#include "gym/trial/weights.h"

namespace tritonsmith::gym::trial {
namespace {

// Factories without a dtype make doubles while this lives.
class DefaultDouble {
 public:
  DefaultDouble() : before_(c10::get_default_dtype()) {
    c10::set_default_dtype(caffe2::TypeMeta::Make<double>());
  }
  ~DefaultDouble() { c10::set_default_dtype(before_); }
  DefaultDouble(const DefaultDouble&) = delete;
  DefaultDouble& operator=(const DefaultDouble&) = delete;

 private:
  caffe2::TypeMeta before_;
};

std::set<const void*> memory_made_by_forward(const plan::Plan& plan,
                                             const tensors::TensorTable& tensors) {
  std::set<const void*> made;
  for (const int index : replay::made_by_forward(plan, tensors))
    made.insert(tensors::tensor_at(tensors, index).storage().data());
  return made;
}

// Each memory once.
std::vector<SavedState> save_state(const plan::Plan& plan, const tensors::TensorTable& tensors) {
  std::set<const void*> seen = memory_made_by_forward(plan, tensors);
  std::vector<SavedState> all;
  for (const at::Tensor& tensor : tensors) {
    if (!tensor.defined() || tensor.storage().nbytes() == 0) continue;
    if (!seen.insert(tensor.storage().data()).second) continue;
    at::Tensor bytes = tensors::storage_bytes(tensor);
    at::Tensor saved = bytes.clone();
    all.push_back({.bytes = std::move(bytes), .saved = std::move(saved)});
  }
  return all;
}

}  // namespace

bool does_not_replay(const replay::Stop& stop) {
  const std::string& kind = stop.error.error_class;
  return kind == "not_evaluable" || kind == "exception" || kind == "bad_plan";
}

Trial::Trial(const TrialConfig& config, language::KernelExecutor& executor, device::Device& device)
    : config_(config),
      executor_(executor),
      device_(device),
      filler_(config.trial % 2 == 0 ? tensors::Filler::nan : tensors::Filler::huge),
      reference_(config.task, executor,
                 {.deadline = config.deadline, .device = &device, .draws_seed = seed_of("draws")}),
      candidate_(
          config.candidate, executor,
          {.choices = config.choices,
           .deadline = config.deadline,
           .launches = config.watch_launches ? replay::Launches::watched : replay::Launches::run,
           .device = &device,
           .draws_seed = seed_of("draws")}) {}

Trial::~Trial() { device_.end(); }

TrialResult Trial::run() {
  executor_.set_order(config_.order);
  device_.begin(tensors::Filler::zero, config_.memory_bytes);
  if (draw() && (!config_.later_call || call_before())) {
    run_candidate();
    if (device_.spent()) return std::move(result_);
    prepare_oracle();
    // A shell is not asked in vain.
    if (reference_replays() || !result_.candidate_stop) run_reference();
    if (!result_.candidate_stop && !result_.reference_stop) judge();
    if (!result_.candidate_stop && !result_.reference_stop && !result_.difference) {
      ask_again();
      see_coincidence();
    }
    forget_expected();
  }
  return std::move(result_);
}

void Trial::seed(std::string_view purpose) { device_.seed(seed_of(purpose)); }

// False when the trial ends here.
bool Trial::draw() {
  const Stopwatch watch;
  seed("init");
  result_.reference_stop = reference_.run(plan::Phase::init);
  if (result_.reference_stop) return false;
  seed("inputs");
  result_.reference_stop = reference_.run(plan::Phase::inputs);
  if (result_.reference_stop) return false;
  if (!construct_candidate({})) return false;
  const c10::InferenceMode no_gradients(true);
  const bool shared = share_weights() && share_inputs();
  remember_shared();
  keep_own_state();
  if (keeping_ == StateKeeping::saved)
    candidate_state_ = save_state(config_.candidate, candidate_.tensors());
  if (keeping_ == StateKeeping::watched) watch_state();
  // Drawing is the task's own work. What the place did by itself does not fail.
  const bool by_place =
      std::ranges::all_of(shared_, [](const Shared& each) { return each.copied.has_value(); });
  if (!by_place || reference_.ran_operators() || candidate_.ran_operators()) await_reference();
  result_.draw_ms = watch.milliseconds();
  return shared && !result_.reference_stop;
}

// From the same seed each time.
bool Trial::construct_candidate(std::span<const EarlyWeight> early) {
  seed("init");
  device_.set_filler(filler_);
  result_.candidate_stop = candidate_.run(plan::Phase::init, [&](std::size_t step) {
    const c10::InferenceMode no_gradients(true);
    for (const EarlyWeight& each : early)
      if (each.step == step) {
        const at::Tensor& now = tensors::tensor_at(candidate_.tensors(), each.candidate);
        const at::Tensor& weight = tensors::tensor_at(reference_.tensors(), each.reference);
        if (at::has_internal_overlap(now) == at::MemOverlap::Yes) continue;
        if (weight.numel() == now.numel())
          now.copy_(weight.reshape(now.sizes()));
        else if (now.is_contiguous() && each.first + weight.numel() <= now.numel())
          now.view(-1).narrow(0, each.first, weight.numel()).copy_(weight.flatten());
      }
  });
  device_.set_filler(tensors::Filler::zero);
  return !result_.candidate_stop;
}

void Trial::remember_shared() {
  tensors::TensorTable before;
  for (const Shared& each : shared_)
    if (!each.copied) before.push_back(tensors::tensor_at(reference_.tensors(), each.reference));
  if (before.empty()) return;
  std::vector<device::Snapshot> snapshots = device_.snapshots(before);
  auto next = snapshots.begin();
  for (Shared& each : shared_)
    if (!each.copied) each.before = std::move(*next++);
}

bool Trial::share_weights() {
  const auto pairs = match_weights({config_.task, reference_.tensors()},
                                   {config_.candidate, candidate_.tensors()});
  const WeightChange change = config_.weights.value_or(weight_change(config_.kind));
  if (change != WeightChange::none) {
    Rng rng(trial_seed(config_.secret, "weights", config_.trial), "weights", 0);
    const ChangeableWeights changeable = changeable_weights(
        {config_.task, reference_.tensors()}, {config_.candidate, candidate_.tensors()}, pairs);
    change_weights(config_.task, changeable, perturbation_of_trial(config_.trial), change, rng,
                   reference_.tensors());
    if (!changeable.early.empty() && !construct_candidate(changeable.early)) return false;
  }
  if (auto error = bind_weights(pairs, reference_.tensors(), candidate_.tensors())) {
    result_.candidate_stop = replay::Stop{.error = std::move(*error), .fault = Fault::candidate};
    return false;
  }
  for (const WeightPair& pair : pairs)
    shared_.push_back(
        {.what = pair.name, .reference = pair.reference, .candidate = pair.candidate});
  remember_unmatched(pairs);
  return true;
}

bool Trial::share_inputs() {
  Rng rng(trial_seed(config_.secret, "perturb", config_.trial), "perturb", 0);
  seed("perturb");
  const std::vector<int> ours = input_tensors(config_.task);
  const std::vector<int> theirs = input_tensors(config_.candidate);
  if (ours.size() != theirs.size()) return refuse_inputs("another number of inputs");
  const auto changes = input_changes(config_.task, config_.kind, rng, reference_.tensors());
  std::vector<device::DrawnInput> inputs;
  for (std::size_t k = 0; k < ours.size(); ++k)
    inputs.push_back(
        {.drawn = tensors::tensor_at(reference_.tensors(), ours[k]), .change = changes[k]});
  const bool remembered = device_.change_and_copy(inputs);
  if (!remembered) copy_inputs(inputs);
  for (std::size_t k = 0; k < ours.size(); ++k) {
    const plan::PlanTensor& declared =
        config_.candidate.tensors.at(static_cast<std::size_t>(theirs[k]));
    at::Tensor& copy = inputs[k].copy;
    if (copy.sizes() != at::IntArrayRef(declared.shape) ||
        copy.strides() != at::IntArrayRef(declared.stride) ||
        copy.scalar_type() != tensors::scalar_type_of(declared.dtype))
      return refuse_inputs("an input of another shape, dtype or stride");
    candidate_.bind(theirs[k], std::move(copy));
    shared_.push_back({.what = fmt::format("input {}", k),
                       .reference = ours[k],
                       .candidate = theirs[k],
                       .is_input = true,
                       .copied = remembered ? std::optional(k) : std::nullopt});
  }
  return true;
}

void Trial::copy_inputs(std::span<device::DrawnInput> inputs) {
  tensors::TensorTable drawn;
  for (device::DrawnInput& input : inputs) {
    change_input(input.change, input.drawn);
    drawn.push_back(input.drawn);
  }
  tensors::TensorTable copies = device::copy_with_storages(drawn, device_);
  for (std::size_t k = 0; k < inputs.size(); ++k) inputs[k].copy = std::move(copies[k]);
}

bool Trial::refuse_inputs(std::string_view how) {
  result_.candidate_stop =
      replay::Stop{.error = {.error_class = "bad_plan",
                             .message = fmt::format("the plan has {} than its task", how)},
                   .fault = Fault::candidate};
  return false;
}

void Trial::await_candidate() {
  if (auto error = device_.wait(config_.deadline))
    if (!result_.candidate_stop || result_.candidate_stop->error.error_class == "exception")
      result_.candidate_stop = replay::Stop{.error = std::move(*error), .fault = Fault::candidate};
}

void Trial::await_reference() {
  if (auto error = device_.wait(config_.deadline))
    if (!result_.reference_stop)
      result_.reference_stop = replay::Stop{.error = std::move(*error), .fault = Fault::none};
}

void Trial::forget_expected() { forget_made(reference_.tensors()); }

void Trial::forget_made(const tensors::TensorTable& tensors) {
  tensors::TensorTable made;
  for (const int index : replay::made_by_forward(config_.task, tensors))
    made.push_back(tensors::tensor_at(tensors, index));
  device_.forget(made);
}

// Out of the candidate's reach for as long as it runs once more; on a CPU everything is.
std::vector<SavedState> Trial::hide_expected() {
  std::vector<SavedState> hidden;
  if (device_.torch_device().is_cpu()) return hidden;
  for (const int index : replay::made_by_forward(config_.task, reference_.tensors())) {
    const at::Tensor bytes =
        tensors::storage_bytes(tensors::tensor_at(reference_.tensors(), index));
    hidden.push_back({.bytes = bytes, .saved = bytes.cpu()});
  }
  forget_expected();
  return hidden;
}

void Trial::run_candidate() {
  const Stopwatch watch;
  device_.set_filler(filler_);
  seed("forward");
  device_.set_patience(Deadline::after(replay::kKernelPatience));
  result_.candidate_stop = candidate_.run(plan::Phase::forward);
  await_candidate();
  for (Shared& each : shared_)
    if (each.copied) each.before = device_.copied(*each.copied);
  device_.set_patience(Deadline::never());  // what follows is the task's, or ours
  device_.set_filler(tensors::Filler::zero);
  result_.launches = candidate_.launches();
  result_.findings = candidate_.findings();
  result_.kernels_only_copied = candidate_.only_copied();
  result_.candidate_ms = watch.milliseconds();
}

// Must look at the inputs before the reference changes any; one with a fused oracle changes none.
void Trial::prepare_oracle() {
  const c10::InferenceMode no_gradients(true);
  if (keeping_ == StateKeeping::saved)
    reference_state_ = save_state(config_.task, reference_.tensors());
  if (config_.with_oracle && reference_replays() && config_.fused == nullptr) widen_inputs();
}

void Trial::widen_inputs() {
  try {
    for (const at::Tensor& tensor : reference_.tensors())
      oracle_inputs_.push_back(tensor.defined() && tensor.is_floating_point()
                                   ? tensor.to(at::kDouble, false, true)
                               : tensor.defined() ? tensor.clone()
                                                  : at::Tensor());
    has_oracle_ = true;
  } catch (const c10::OutOfMemoryError&) {
    // There was room for it: without it no plain tolerance decides.
    oracle_inputs_.clear();
    result_.candidate_stop =
        replay::Stop{.error = {.error_class = "too_large_to_evaluate",
                               .message = "no memory is left for the reference in float64"}};
  }
}

void Trial::run_reference() {
  const Stopwatch watch;
  seed("forward");
  if (reference_replays()) {
    result_.reference_stop = reference_.run(plan::Phase::forward);
    result_.forward_refused = result_.reference_stop && does_not_replay(*result_.reference_stop);
  } else {
    result_.reference_stop = ask_shell();
  }
  // A pointwise forward is compared at once; judge() waits for both.
  if (config_.fused == nullptr) await_reference();
  result_.reference_ms = watch.milliseconds();
}

// Where some operator has no float64 form there is no oracle, and the plain tolerance alone
// decides.
tensors::TensorTable Trial::run_oracle() {
  if (!reference_replays()) return std::move(oracle_);
  if (!has_oracle_) return {};
  const DefaultDouble doubles;
  replay::Replay oracle(
      config_.task, executor_,
      {.precision = replay::Precision::float64, .deadline = config_.deadline, .device = &device_});
  oracle.tensors() = std::move(oracle_inputs_);
  auto stop = oracle.run(plan::Phase::forward);
  if (!stop) return std::move(oracle.tensors());
  forget_made(oracle.tensors());
  // A candidate may have used up the time, or the memory.
  if (stop->error.error_class == "too_large_to_evaluate") result_.reference_stop = std::move(stop);
  return {};
}

tensors::TensorTable Trial::exact_again() {
  const c10::InferenceMode no_gradients(true);
  oracle_inputs_.clear();
  has_oracle_ = false;
  if (config_.with_oracle && reference_replays()) widen_inputs();
  return run_oracle();
}

void Trial::keep_own_state() {
  std::set<int> shared;
  for (const Shared& each : shared_) shared.insert(each.candidate);
  std::set<const void*> seen = memory_made_by_forward(config_.candidate, candidate_.tensors());
  for (const int index : read_by_forward(config_.candidate)) {
    const at::Tensor& tensor = tensors::tensor_at(candidate_.tensors(), index);
    if (!tensor.defined() || shared.contains(index) || tensor.storage().nbytes() == 0 ||
        !seen.insert(tensor.storage().data()).second)
      continue;
    at::Tensor bytes = tensors::storage_bytes(tensor);
    at::Tensor saved = device_.torch_device().is_cpu() ? at::Tensor() : bytes.clone();
    device::Snapshot before = device_.snapshots({&bytes, 1}).front();
    own_state_.push_back(
        {.bytes = std::move(bytes), .saved = std::move(saved), .before = std::move(before)});
  }
}

// What the two share is looked at anyway.
void Trial::watch_state() {
  std::set<const void*> seen = memory_made_by_forward(config_.candidate, candidate_.tensors());
  seen.merge(memory_made_by_forward(config_.task, reference_.tensors()));
  const auto skip = [&](const at::Tensor& tensor) {
    if (tensor.is_contiguous() && tensor.nbytes() == tensor.storage().nbytes())
      seen.insert(tensor.storage().data());
  };
  for (const Shared& each : shared_) {
    skip(tensors::tensor_at(reference_.tensors(), each.reference));
    skip(tensors::tensor_at(candidate_.tensors(), each.candidate));
  }
  for (const tensors::TensorTable* tensors : {&candidate_.tensors(), &reference_.tensors()})
    for (const at::Tensor& tensor : *tensors)
      if (tensor.defined() && tensor.storage().nbytes() > 0 &&
          seen.insert(tensor.storage().data()).second)
        watched_.push_back(tensors::storage_bytes(tensor));
  if (!watched_.empty()) watched_before_ = device_.snapshots(watched_);
}

void Trial::see_changed_state() {
  const auto unchanged = [](bool each) { return each; };
  if (!watched_.empty() &&
      !std::ranges::all_of(device_.each_unchanged(watched_, watched_before_), unchanged))
    changed_state_ = true;
}

std::optional<device::Snapshot> Trial::input_before(int reference) const {
  for (const Shared& each : shared_)
    if (each.is_input && each.reference == reference) return each.before;
  return std::nullopt;
}

// False where that cannot be done: a GPU's snapshots hold no bytes, and an input may be expanded.
bool Trial::restore_shared() {
  if (shared_is_intact_) return true;
  for (const Shared& each : shared_) {
    at::Tensor& theirs = tensors::tensor_at(candidate_.tensors(), each.candidate);
    if (device_.unchanged(theirs, each.before)) continue;
    if (!each.before.bytes.defined() || at::has_internal_overlap(theirs) == at::MemOverlap::Yes)
      return false;
    theirs.copy_(each.before.bytes);
  }
  return true;
}

// The outputs were right. Are they still where forward finds what its own first call left behind?
// And would they have been without any kernel?
void Trial::ask_again() {
  const c10::InferenceMode no_gradients(true);
  const bool carries_state = std::ranges::any_of(
      own_state_, [&](const OwnState& own) { return !device_.unchanged(own.bytes, own.before); });
  const tensors::TensorTable after_init = candidate_.tensors();
  if (carries_state && !answers_again(after_init)) return;
  if (result_.difference || !config_.try_without_kernels) return;
  auto idle = another_replay(after_init, replay::Launches::skipped, tensors::Filler::huge);
  result_.right_without_kernels = idle && !idle->draw_again() && !idle->run(plan::Phase::forward) &&
                                  !compare_with_reference(idle->tensors());
}

// False where that could not be found out.
bool Trial::answers_again(const tensors::TensorTable& after_init) {
  const bool was_intact = shared_is_intact_;
  spoil_outputs();
  auto again = another_replay(after_init, replay::Launches::run, filler_);
  if (!again) return false;
  const std::vector<SavedState> hidden = hide_expected();
  auto stop = run_again(*again, "draws");
  for (const SavedState& each : hidden) each.bytes.copy_(each.saved);
  if (result_.candidate_stop) return false;
  auto difference = stop ? std::optional(stop->error) : compare_with_reference(again->tensors());
  if (!difference && was_intact) difference = changed_shared();
  if (difference)
    result_.difference =
        VerdictError{.error_class = "state_carried",
                     .message =
                         "called again with the same input, forward does otherwise, since "
                         "it keeps something from the call before: " +
                         difference->message};
  if (!result_.difference) result_.difference = answer_other_inputs();
  for (const OwnState& own : own_state_)
    own.bytes.copy_(own.saved.defined() ? own.saved : own.before.bytes);
  return true;
}

// What ended the run is the candidate's mistake; what else did ends the trial.
std::optional<replay::Stop> Trial::run_again(replay::Replay& again, std::string_view draws) {
  device_.set_patience(Deadline::after(replay::kKernelPatience));
  again.seed_draws(seed_of(draws));
  auto stop = again.draw_again();
  if (!stop) stop = again.run(plan::Phase::forward);
  if (auto late = device_.wait(config_.deadline); late && !stop)
    stop = replay::Stop{.error = std::move(*late), .fault = Fault::candidate};
  device_.set_patience(Deadline::never());
  if (!stop || (stop->fault == Fault::candidate && stop->error.error_class != "timeout"))
    return stop;
  result_.candidate_stop = std::move(stop);
  return std::nullopt;
}

// Of inputs and weights that the first call left alone, one that a later call did not.
std::optional<VerdictError> Trial::changed_shared() {
  for (const Shared& each : shared_)
    if (!device_.unchanged(tensors::tensor_at(candidate_.tensors(), each.candidate), each.before))
      return VerdictError{.error_class = each.is_input ? "input_mutated" : "weight_mutated",
                          .message = fmt::format("{} was changed", each.what)};
  return std::nullopt;
}

// What forward returned belongs to its caller, who may overwrite it.
void Trial::spoil_outputs() {
  std::set<const void*> shared;
  for (const Shared& each : shared_)
    shared.insert(tensors::tensor_at(candidate_.tensors(), each.candidate).storage().data());
  std::vector<int> outputs;
  plan::append_tensors(config_.candidate.outputs, outputs);
  for (const int index : outputs) {
    const at::Tensor& output = tensors::tensor_at(candidate_.tensors(), index);
    if (output.storage().nbytes() > 0 && !shared.contains(output.storage().data()))
      tensors::storage_bytes(output).fill_(static_cast<std::int64_t>(tensors::Filler::huge));
  }
}

std::optional<replay::Replay> Trial::another_replay(const tensors::TensorTable& tensors,
                                                    replay::Launches launches,
                                                    tensors::Filler filler) {
  if (!restore_shared()) return std::nullopt;
  shared_is_intact_ = false;
  std::optional<replay::Replay> replay(std::in_place, config_.candidate, executor_,
                                       replay::ReplayOptions{.choices = config_.choices,
                                                             .deadline = config_.deadline,
                                                             .launches = launches,
                                                             .device = &device_,
                                                             .draws_seed = seed_of("draws")});
  replay->tensors() = tensors;
  device_.set_filler(filler);
  seed("forward");
  return replay;
}

TrialResult run_trial(const TrialConfig& config, language::KernelExecutor& executor,
                      device::Device& device) {
  return Trial(config, executor, device).run();
}

}  // namespace tritonsmith::gym::trial
