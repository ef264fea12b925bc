#include "gym/referee/trial.h"

#include <ATen/ATen.h>
#include <c10/core/DefaultDtype.h>
#include <c10/core/InferenceMode.h>

#include <algorithm>
#include <limits>
#include <set>

#include "gym/referee/compare.h"
#include "gym/referee/devices.h"
#include "gym/referee/replay_memory.h"
#include "gym/referee/weights.h"

namespace tritonsmith::gym {
namespace {

at::Tensor& tensor_at(TensorTable& tensors, int index) {
  return tensors.at(static_cast<std::size_t>(index));
}

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

bool aliases(const Plan& plan, TensorTable& tensors) {
  std::set<const void*> inputs;
  for (const int index : input_tensors(plan))
    inputs.insert(tensor_at(tensors, index).storage().data());
  std::vector<int> outputs;
  append_tensors(plan.outputs, outputs);
  return std::ranges::any_of(outputs, [&](int index) {
    const at::Tensor& output = tensor_at(tensors, index);
    return output.numel() > 0 && inputs.contains(output.storage().data());
  });
}

// Each memory once.
std::vector<SavedState> save_state(const TensorTable& tensors) {
  std::set<const void*> seen;
  std::vector<SavedState> all;
  for (const at::Tensor& tensor : tensors) {
    if (!tensor.defined() || tensor.storage().nbytes() == 0) continue;
    if (!seen.insert(tensor.storage().data()).second) continue;
    at::Tensor bytes = storage_bytes(tensor);
    at::Tensor saved = bytes.clone();
    all.push_back({.bytes = std::move(bytes), .saved = std::move(saved)});
  }
  return all;
}

// The operators as such, not what they did to the numbers or how long they took.
bool does_not_replay(const Stop& stop) {
  const std::string& kind = stop.error.error_class;
  return kind == "not_evaluable" || kind == "exception" || kind == "bad_plan";
}

}  // namespace

Trial::Trial(const TrialSetting& setting, KernelExecutor& executor, Place& place)
    : setting_(setting),
      executor_(executor),
      place_(place),
      filler_(setting.trial % 2 == 0 ? Filler::nan : Filler::huge),
      reference_(setting.task, executor, {.deadline = setting.deadline, .place = &place}),
      candidate_(setting.candidate, executor,
                 {.choice = setting.choice,
                  .deadline = setting.deadline,
                  .launches = setting.watch_launches ? Launches::watched : Launches::run,
                  .place = &place}) {}

Trial::~Trial() { place_.end(); }

TrialResult Trial::run() {
  place_.begin(Filler::zero, setting_.memory_bytes);
  if (draw()) {
    run_candidate();
    if (place_.spent()) return std::move(result_);
    prepare_oracle();
    // A shell is not asked in vain.
    if (reference_replays() || !result_.candidate_stop) run_reference();
    if (!result_.candidate_stop && !result_.reference_stop) judge();
    if (!result_.candidate_stop && !result_.reference_stop && !result_.difference) ask_again();
    forget_expected();
  }
  return std::move(result_);
}

void Trial::seed(std::string_view purpose) {
  place_.seed(trial_seed(setting_.secret, purpose, setting_.trial));
}

// False when the trial ends here.
bool Trial::draw() {
  const Stopwatch watch;
  seed("init");
  result_.reference_stop = reference_.run(Phase::init);
  if (result_.reference_stop) return false;
  seed("inputs");
  result_.reference_stop = reference_.run(Phase::inputs);
  if (result_.reference_stop) return false;
  seed("init");
  place_.set_filler(filler_);
  result_.candidate_stop = candidate_.run(Phase::init);
  place_.set_filler(Filler::zero);
  if (result_.candidate_stop) return false;
  const c10::InferenceMode no_gradients(true);
  share_weights();
  const bool shared = share_inputs();
  TensorTable before;
  for (const Shared& each : shared_)
    before.push_back(tensor_at(reference_.tensors(), each.reference));
  std::vector<Snapshot> snapshots = place_.snapshots(before);
  for (std::size_t k = 0; k < shared_.size(); ++k) shared_[k].before = std::move(snapshots[k]);
  keep_own_state();
  if (keeps_state_) candidate_state_ = save_state(candidate_.tensors());
  await_reference();  // drawing is the task's own work
  result_.draw_ms = watch.milliseconds();
  return shared && !result_.reference_stop;
}

void Trial::share_weights() {
  const auto pairs = match_weights({setting_.task, reference_.tensors()},
                                   {setting_.candidate, candidate_.tensors()});
  if (setting_.kind != TrialKind::plain) {
    Rng rng(trial_seed(setting_.secret, "weights", setting_.trial), "weights", 0);
    perturb_constant_parameters(setting_.task,
                                changeable_parameters(setting_.task, setting_.candidate, pairs),
                                rng, reference_.tensors());
  }
  bind_weights(pairs, reference_.tensors(), candidate_.tensors());
  for (const WeightPair& pair : pairs)
    shared_.push_back(
        {.what = pair.name, .reference = pair.reference, .candidate = pair.candidate});
}

bool Trial::share_inputs() {
  Rng rng(trial_seed(setting_.secret, "perturb", setting_.trial), "perturb", 0);
  seed("perturb");
  perturb_inputs(setting_.task, setting_.kind, rng, reference_.tensors());
  const std::vector<int> ours = input_tensors(setting_.task);
  const std::vector<int> theirs = input_tensors(setting_.candidate);
  if (ours.size() != theirs.size()) return refuse_inputs("another number of inputs");
  TensorTable drawn;
  for (const int index : ours) drawn.push_back(tensor_at(reference_.tensors(), index));
  TensorTable copies = copy_with_storages(drawn, place_);
  for (std::size_t k = 0; k < ours.size(); ++k) {
    const PlanTensor& declared = setting_.candidate.tensors.at(static_cast<std::size_t>(theirs[k]));
    if (copies[k].sizes() != at::IntArrayRef(declared.shape) ||
        copies[k].strides() != at::IntArrayRef(declared.stride) ||
        copies[k].scalar_type() != scalar_type_of(declared.dtype))
      return refuse_inputs("an input of another shape, dtype or stride");
    candidate_.bind(theirs[k], std::move(copies[k]));
    shared_.push_back({.what = fmt::format("input {}", k),
                       .reference = ours[k],
                       .candidate = theirs[k],
                       .is_input = true});
  }
  return true;
}

bool Trial::refuse_inputs(std::string_view how) {
  result_.candidate_stop =
      Stop{.error = {.error_class = "bad_plan",
                     .message = fmt::format("the plan has {} than its task", how)},
           .fault = Fault::candidate};
  return false;
}

void Trial::await_candidate() {
  if (auto error = place_.wait(setting_.deadline))
    if (!result_.candidate_stop || result_.candidate_stop->error.error_class == "exception")
      result_.candidate_stop = Stop{.error = std::move(*error), .fault = Fault::candidate};
}

void Trial::await_reference() {
  if (auto error = place_.wait(setting_.deadline))
    if (!result_.reference_stop)
      result_.reference_stop = Stop{.error = std::move(*error), .fault = Fault::none};
}

void Trial::forget_expected() {
  TensorTable made;
  std::vector<int> outputs;
  append_tensors(task().outputs, outputs);
  const std::vector<int> inputs = input_tensors(setting_.task);
  std::set<const void*> kept;
  for (const PlanParameter& parameter : setting_.task.parameters)
    kept.insert(tensor_at(reference_.tensors(), parameter.tensor).storage().data());
  for (const int index : inputs)
    kept.insert(tensor_at(reference_.tensors(), index).storage().data());
  for (const int index : outputs)
    if (const at::Tensor& output = tensor_at(reference_.tensors(), index);
        output.defined() && !kept.contains(output.storage().data()))
      made.push_back(output);
  place_.forget(made);
}

void Trial::run_candidate() {
  const Stopwatch watch;
  place_.set_filler(filler_);
  seed("forward");
  place_.set_patience(Deadline::after(kKernelPatience));
  result_.candidate_stop = candidate_.run(Phase::forward);
  await_candidate();
  place_.set_patience(Deadline::never());  // what follows is the task's, or ours
  place_.set_filler(Filler::zero);
  result_.launches = candidate_.launches();
  result_.findings = candidate_.findings();
  result_.kernels_only_copied = candidate_.only_copied();
  result_.candidate_ms = watch.milliseconds();
}

// Must look at the inputs before the reference changes any.
void Trial::prepare_oracle() {
  const c10::InferenceMode no_gradients(true);
  if (keeps_state_) reference_state_ = save_state(reference_.tensors());
  if (!setting_.with_oracle || !reference_replays()) return;
  try {
    for (const at::Tensor& tensor : reference_.tensors())
      oracle_inputs_.push_back(tensor.defined() && tensor.is_floating_point()
                                   ? tensor.to(at::kDouble, false, true)
                               : tensor.defined() ? tensor.clone()
                                                  : at::Tensor());
    has_oracle_ = true;
  } catch (const c10::OutOfMemoryError&) {
    // Inputs of many gigabytes: the plain tolerance alone decides.
    oracle_inputs_.clear();
  }
}

void Trial::run_reference() {
  const Stopwatch watch;
  seed("forward");
  if (reference_replays()) {
    result_.reference_stop = reference_.run(Phase::forward);
    result_.forward_refused = result_.reference_stop && does_not_replay(*result_.reference_stop);
  } else {
    result_.reference_stop = ask_shell();
  }
  await_reference();
  result_.reference_ms = watch.milliseconds();
}

// Where some operator has no float64 form there is no oracle, and the plain tolerance alone
// decides.
TensorTable Trial::run_oracle() {
  if (!reference_replays()) return std::move(oracle_);
  if (!has_oracle_) return {};
  const DefaultDouble doubles;
  Replay oracle(setting_.task, executor_,
                {.precision = Precision::float64, .deadline = setting_.deadline, .place = &place_});
  oracle.tensors() = std::move(oracle_inputs_);
  if (oracle.run(Phase::forward)) return {};
  return std::move(oracle.tensors());
}

void Trial::judge() {
  const c10::InferenceMode no_gradients(true);
  const Stopwatch watch;
  const TensorTable oracle = run_oracle();
  measure_reference(oracle);
  const CompareOptions how = comparison();
  result_.difference =
      compare_outputs({setting_.candidate.outputs, candidate_.tensors()},
                      {task().outputs, reference_.tensors()}, oracle, how, result_.numerics);
  if (!result_.difference) result_.difference = compare_devices();
  if (!result_.difference) result_.difference = compare_state(oracle, how);
  if (!result_.difference) result_.difference = compare_aliases();
  std::vector<int> outputs;
  append_tensors(task().outputs, outputs);
  for (const int index : outputs)
    if (const auto at = static_cast<std::size_t>(index); !oracle.empty() && oracle[at].defined())
      place_.forget({&oracle[at], 1});
  result_.compare_ms = watch.milliseconds();
}

void Trial::keep_own_state() {
  std::set<int> shared;
  for (const Shared& each : shared_) shared.insert(each.candidate);
  for (const int index : read_by_forward(setting_.candidate))
    if (const at::Tensor& tensor = tensor_at(candidate_.tensors(), index);
        tensor.defined() && !shared.contains(index))
      own_state_.push_back({.index = index,
                            .saved = place_.device().is_cpu() ? at::Tensor() : tensor.clone(),
                            .before = place_.snapshots({&tensor, 1}).front()});
}

// False where that cannot be done: a GPU's snapshots hold no bytes.
bool Trial::restore_shared() {
  for (const Shared& each : shared_) {
    at::Tensor& theirs = tensor_at(candidate_.tensors(), each.candidate);
    if (place_.unchanged(theirs, each.before)) continue;
    if (!each.before.bytes.defined()) return false;
    theirs.copy_(each.before.bytes);
  }
  return true;
}

std::optional<VerdictError> Trial::compare_with_reference(const TensorTable& tensors) {
  Numerics ignored;
  return compare_outputs({setting_.candidate.outputs, tensors},
                         {task().outputs, reference_.tensors()}, {}, comparison(), ignored);
}

// The outputs were right. Are they still where forward finds what its own first call left behind?
// And would they have been without any kernel?
void Trial::ask_again() {
  const c10::InferenceMode no_gradients(true);
  const bool carries_state = std::ranges::any_of(own_state_, [&](const OwnState& own) {
    return !place_.unchanged(tensor_at(candidate_.tensors(), own.index), own.before);
  });
  const TensorTable after_init = candidate_.tensors();
  if (carries_state && !answers_again(after_init)) return;
  if (result_.difference || !setting_.try_without_kernels) return;
  auto idle = another_replay(after_init, Launches::skipped, Filler::huge);
  result_.right_without_kernels =
      idle && !idle->run(Phase::forward) && !compare_with_reference(idle->tensors());
}

// False where that could not be found out.
bool Trial::answers_again(const TensorTable& after_init) {
  spoil_outputs();
  auto again = another_replay(after_init, Launches::run, filler_);
  if (!again) return false;
  auto stop = again->run(Phase::forward);
  if (auto late = place_.wait(setting_.deadline); late && !stop)
    stop = Stop{.error = std::move(*late), .fault = Fault::candidate};
  if (stop && stop->fault == Fault::none) return false;
  const auto difference =
      stop ? std::optional(stop->error) : compare_with_reference(again->tensors());
  if (difference)
    result_.difference =
        VerdictError{.error_class = "state_carried",
                     .message =
                         "called again with the same input, forward does otherwise, since "
                         "it keeps something from the call before: " +
                         difference->message};
  for (const OwnState& own : own_state_)
    tensor_at(candidate_.tensors(), own.index)
        .copy_(own.saved.defined() ? own.saved : own.before.bytes);
  return true;
}

// What forward returned belongs to its caller, who may overwrite it.
void Trial::spoil_outputs() {
  std::set<const void*> shared;
  for (const Shared& each : shared_)
    shared.insert(tensor_at(candidate_.tensors(), each.candidate).storage().data());
  std::vector<int> outputs;
  append_tensors(setting_.candidate.outputs, outputs);
  for (const int index : outputs) {
    const at::Tensor& output = tensor_at(candidate_.tensors(), index);
    if (output.storage().nbytes() > 0 && !shared.contains(output.storage().data()))
      storage_bytes(output).fill_(static_cast<std::int64_t>(Filler::huge));
  }
}

std::optional<Replay> Trial::another_replay(const TensorTable& tensors, Launches launches,
                                            Filler filler) {
  if (!restore_shared()) return std::nullopt;
  std::optional<Replay> replay(std::in_place, setting_.candidate, executor_,
                               ReplayOptions{.choice = setting_.choice,
                                             .deadline = setting_.deadline,
                                             .launches = launches,
                                             .place = &place_});
  replay->tensors() = tensors;
  place_.set_filler(filler);
  seed("forward");
  return replay;
}

CompareOptions Trial::comparison() {
  return {.tolerance = tolerance(),
          .unit = setting_.kind == TrialKind::plain ? AbsoluteUnit::one : AbsoluteUnit::output_size,
          .filler = filler_,
          .device = place_.comparison()};
}

// Where a GPU measures, or in trials of extreme values, each output; on a CPU else where the answer
// costs next to nothing.
void Trial::measure_reference(const TensorTable& oracle) {
  constexpr std::int64_t few = 1 << 20;
  DeviceComparison* device = place_.comparison();
  double largest = oracle.empty() ? std::numeric_limits<double>::infinity() : 0;
  std::vector<int> outputs;
  append_tensors(task().outputs, outputs);
  for (const int index : outputs) {
    const at::Tensor& output = tensor_at(reference_.tensors(), index);
    if (!output.is_floating_point()) continue;
    const at::Tensor exact =
        oracle.empty() ? at::Tensor() : oracle.at(static_cast<std::size_t>(index));
    if (device != nullptr && exact.defined() && exact.sizes() == output.sizes()) {
      const ReferenceQuality quality = device->measure(output, exact);
      result_.reference_is_finite = result_.reference_is_finite && quality.is_finite;
      largest = std::max(largest, quality.own_error);
      continue;
    }
    result_.reference_is_finite =
        result_.reference_is_finite && at::isfinite(output).all().item<bool>();
    if (is_extreme(setting_.kind) || output.numel() <= few)
      largest = std::max(largest, own_error(output, exact));
  }
  result_.reference_error = largest / tolerance();
}

std::optional<VerdictError> Trial::compare_devices() const {
  std::vector<int> ours, theirs;
  append_tensors(task().outputs, ours);
  append_tensors(setting_.candidate.outputs, theirs);
  const auto expected = tensors_on_cpu(task()), got = tensors_on_cpu(setting_.candidate);
  for (std::size_t k = 0; k < std::min(ours.size(), theirs.size()); ++k)
    if (got.at(static_cast<std::size_t>(theirs[k])) &&
        !expected.at(static_cast<std::size_t>(ours[k])))
      return VerdictError{.error_class = "wrong_device",
                          .message = fmt::format("output tensor {} lies in the CPU's memory", k)};
  return std::nullopt;
}

// The widest of the task's own floating types decides: fp16 inputs give fp16 noise in an fp32
// output too.
double Trial::tolerance() {
  std::vector<int> indices = input_tensors(setting_.task);
  append_tensors(task().outputs, indices);
  for (const PlanParameter& parameter : setting_.task.parameters)
    indices.push_back(parameter.tensor);
  double widest = 0;
  for (const int index : indices)
    widest = std::max(widest, tolerance_of(tensor_at(reference_.tensors(), index).scalar_type()));
  return setting_.tolerance ? std::min(widest, *setting_.tolerance) : widest;
}

std::optional<VerdictError> Trial::compare_state(const TensorTable& oracle,
                                                 const CompareOptions& how) {
  std::vector<at::Tensor> now;
  std::vector<Snapshot> before;
  for (const Shared& each : shared_) {
    now.push_back(tensor_at(reference_.tensors(), each.reference));
    now.push_back(tensor_at(candidate_.tensors(), each.candidate));
    before.insert(before.end(), 2, each.before);
  }
  const std::vector<bool> unchanged = place_.each_unchanged(now, before);
  for (std::size_t k = 0; k < shared_.size(); ++k) {
    const Shared& each = shared_[k];
    if (!unchanged[2 * k]) {
      Numerics ignored;
      const at::Tensor exact =
          oracle.empty() ? at::Tensor() : oracle.at(static_cast<std::size_t>(each.reference));
      if (auto error = compare_tensors(each.what, now[2 * k + 1], now[2 * k], exact, how, ignored))
        return VerdictError{.error_class = "state_mismatch",
                            .message = "the reference changes " + error->message};
    } else if (!unchanged[2 * k + 1]) {
      return VerdictError{
          .error_class = each.is_input ? "input_mutated" : "weight_mutated",
          .message = fmt::format("{} was changed; the reference leaves it", each.what)};
    }
  }
  return std::nullopt;
}

// An output that is an input's own memory is allowed only where the reference's is.
std::optional<VerdictError> Trial::compare_aliases() {
  if (aliases(setting_.candidate, candidate_.tensors()) && !aliases_input_ &&
      !aliases(task(), reference_.tensors()))
    return VerdictError{
        .error_class = "output_aliases_input",
        .message = "an output shares the memory of an input; the reference's does not"};
  return std::nullopt;
}

TrialResult run_trial(const TrialSetting& setting, KernelExecutor& executor, Place& place) {
  return Trial(setting, executor, place).run();
}

}  // namespace tritonsmith::gym
