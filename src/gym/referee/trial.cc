#include "gym/referee/trial.h"

#include <ATen/ATen.h>
#include <c10/core/DefaultDtype.h>
#include <c10/core/InferenceMode.h>

#include <algorithm>
#include <cstring>
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

// Something both sides hold and that forward may change: an input, or a matched weight.
struct Shared {
  std::string what;
  int reference = 0, candidate = 0;
  bool is_input = false;
  at::Tensor before;
};

struct OwnState {
  int index = 0;
  at::Tensor before;
};

bool same_bytes(const at::Tensor& a, const at::Tensor& b) {
  const at::Tensor x = a.contiguous(), y = b.contiguous();
  return x.nbytes() == y.nbytes() &&
         (x.nbytes() == 0 || std::memcmp(x.const_data_ptr(), y.const_data_ptr(), x.nbytes()) == 0);
}

class Trial {
 public:
  Trial(const TrialSetting& setting, KernelExecutor& executor)
      : setting_(setting),
        executor_(executor),
        memory_(ReplayMemory::instance()),
        filler_(setting.trial % 2 == 0 ? Filler::nan : Filler::huge),
        reference_(setting.task, executor, {.deadline = setting.deadline}),
        candidate_(setting.candidate, executor,
                   {.choice = setting.choice,
                    .deadline = setting.deadline,
                    .launches = setting.watch_launches ? Launches::watched : Launches::run}) {}

  TrialResult run() {
    memory_.begin(Filler::zero, setting_.memory_bytes);
    if (draw()) {
      run_candidate();
      prepare_oracle();
      run_reference();
      if (!result_.candidate_stop && !result_.reference_stop) judge();
      if (!result_.candidate_stop && !result_.reference_stop && !result_.difference) ask_again();
    }
    memory_.end();
    return std::move(result_);
  }

 private:
  void seed(std::string_view purpose) {
    Replay::seed(trial_seed(setting_.secret, purpose, setting_.trial));
  }

  // False when the trial ends here.
  bool draw() {
    const Stopwatch watch;
    seed("init");
    result_.reference_stop = reference_.run(Phase::init);
    if (result_.reference_stop) return false;
    seed("inputs");
    result_.reference_stop = reference_.run(Phase::inputs);
    if (result_.reference_stop) return false;
    seed("init");
    memory_.set_filler(filler_);
    result_.candidate_stop = candidate_.run(Phase::init);
    memory_.set_filler(Filler::zero);
    if (result_.candidate_stop) return false;
    const c10::InferenceMode no_gradients(true);
    share_weights();
    const bool shared = share_inputs();
    for (Shared& each : shared_)
      each.before = tensor_at(reference_.tensors(), each.reference).clone();
    keep_own_state();
    result_.draw_ms = watch.milliseconds();
    return shared;
  }

  void share_weights() {
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

  bool share_inputs() {
    Rng rng(trial_seed(setting_.secret, "perturb", setting_.trial), "perturb", 0);
    seed("perturb");
    perturb_inputs(setting_.task, setting_.kind, rng, reference_.tensors());
    const std::vector<int> ours = input_tensors(setting_.task);
    const std::vector<int> theirs = input_tensors(setting_.candidate);
    if (ours.size() != theirs.size()) return refuse_inputs("another number of inputs");
    TensorTable drawn;
    for (const int index : ours) drawn.push_back(tensor_at(reference_.tensors(), index));
    TensorTable copies = copy_with_storages(drawn);
    for (std::size_t k = 0; k < ours.size(); ++k) {
      const PlanTensor& declared =
          setting_.candidate.tensors.at(static_cast<std::size_t>(theirs[k]));
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

  bool refuse_inputs(std::string_view how) {
    result_.candidate_stop =
        Stop{.error = {.error_class = "bad_plan",
                       .message = fmt::format("the plan has {} than its task", how)},
             .fault = Fault::candidate};
    return false;
  }

  // Tensors that the candidate's constructor made for itself and that forward touches.
  void keep_own_state() {
    std::set<int> shared;
    for (const Shared& each : shared_) shared.insert(each.candidate);
    for (const int index : read_by_forward(setting_.candidate))
      if (const at::Tensor& tensor = tensor_at(candidate_.tensors(), index);
          tensor.defined() && !shared.contains(index))
        own_state_.push_back({index, tensor.clone()});
  }

  void run_candidate() {
    const Stopwatch watch;
    memory_.set_filler(filler_);
    seed("forward");
    result_.candidate_stop = candidate_.run(Phase::forward);
    memory_.set_filler(Filler::zero);
    result_.launches = candidate_.launches();
    result_.findings = candidate_.findings();
    result_.kernels_only_copied = candidate_.only_copied();
    result_.candidate_ms = watch.milliseconds();
  }

  // Must look at the inputs before the reference changes any.
  void prepare_oracle() {
    const c10::InferenceMode no_gradients(true);
    for (const at::Tensor& tensor : reference_.tensors())
      oracle_inputs_.push_back(tensor.defined() && tensor.is_floating_point()
                                   ? tensor.to(at::kDouble, false, true)
                               : tensor.defined() ? tensor.clone()
                                                  : at::Tensor());
  }

  void run_reference() {
    const Stopwatch watch;
    seed("forward");
    result_.reference_stop = reference_.run(Phase::forward);
    result_.reference_ms = watch.milliseconds();
  }

  // Where some operator has no float64 form there is no oracle, and the plain tolerance alone
  // decides.
  TensorTable run_oracle() {
    const DefaultDouble doubles;
    Replay oracle(setting_.task, executor_,
                  {.precision = Precision::float64, .deadline = setting_.deadline});
    oracle.tensors() = std::move(oracle_inputs_);
    if (oracle.run(Phase::forward)) return {};
    return std::move(oracle.tensors());
  }

  void judge() {
    const c10::InferenceMode no_gradients(true);
    const Stopwatch watch;
    const TensorTable oracle = run_oracle();
    result_.reference_is_finite = outputs_are_finite();
    result_.reference_is_precise = outputs_are_precise(oracle);
    const CompareOptions how = comparison();
    result_.difference = compare_outputs({setting_.candidate.outputs, candidate_.tensors()},
                                         {setting_.task.outputs, reference_.tensors()}, oracle, how,
                                         result_.numerics);
    if (!result_.difference) result_.difference = compare_devices();
    if (!result_.difference) result_.difference = compare_state(oracle, how);
    if (!result_.difference) result_.difference = compare_aliases();
    result_.compare_ms = watch.milliseconds();
  }

  void restore_shared() {
    for (const Shared& each : shared_) {
      at::Tensor& theirs = tensor_at(candidate_.tensors(), each.candidate);
      if (!same_bytes(theirs, each.before)) theirs.copy_(each.before);
    }
  }

  std::optional<VerdictError> compare_with_reference(const TensorTable& tensors) {
    Numerics ignored;
    return compare_outputs({setting_.candidate.outputs, tensors},
                           {setting_.task.outputs, reference_.tensors()}, {}, comparison(),
                           ignored);
  }

  // The outputs were right. Are they still where forward finds what its own first call left behind?
  // And would they have been without any kernel?
  void ask_again() {
    const c10::InferenceMode no_gradients(true);
    const bool carries_state = std::ranges::any_of(own_state_, [&](const OwnState& own) {
      return !same_bytes(tensor_at(candidate_.tensors(), own.index), own.before);
    });
    const TensorTable after_init = candidate_.tensors();
    if (carries_state) {
      spoil_outputs();
      Replay again = another_replay(after_init, Launches::run, filler_);
      const auto stop = again.run(Phase::forward);
      const auto difference =
          stop ? std::optional(stop->error) : compare_with_reference(again.tensors());
      if (stop && stop->fault == Fault::none) return;
      if (difference)
        result_.difference =
            VerdictError{.error_class = "state_carried",
                         .message =
                             "called again with the same input, forward does otherwise, since "
                             "it keeps something from the call before: " +
                             difference->message};
      for (const OwnState& own : own_state_)
        tensor_at(candidate_.tensors(), own.index).copy_(own.before);
    }
    if (result_.difference || !setting_.try_without_kernels) return;
    Replay idle = another_replay(after_init, Launches::skipped, Filler::huge);
    result_.right_without_kernels =
        !idle.run(Phase::forward) && !compare_with_reference(idle.tensors());
  }

  // What forward returned belongs to its caller, who may overwrite it.
  void spoil_outputs() {
    std::set<const void*> shared;
    for (const Shared& each : shared_)
      shared.insert(tensor_at(candidate_.tensors(), each.candidate).storage().data());
    std::vector<int> outputs;
    append_tensors(setting_.candidate.outputs, outputs);
    for (const int index : outputs) {
      const c10::Storage storage = tensor_at(candidate_.tensors(), index).storage();
      if (storage.nbytes() > 0 && !shared.contains(storage.data()))
        std::memset(storage.mutable_data(), static_cast<int>(Filler::huge), storage.nbytes());
    }
  }

  Replay another_replay(const TensorTable& tensors, Launches launches, Filler filler) {
    restore_shared();
    Replay replay(setting_.candidate, executor_,
                  {.choice = setting_.choice, .deadline = setting_.deadline, .launches = launches});
    replay.tensors() = tensors;
    memory_.set_filler(filler);
    seed("forward");
    return replay;
  }

  CompareOptions comparison() {
    return {
        .tolerance = tolerance(),
        .unit = setting_.kind == TrialKind::plain ? AbsoluteUnit::one : AbsoluteUnit::output_size,
        .filler = filler_};
  }

  // The widest of the task's own floating types decides: fp16 inputs give fp16 noise in an fp32
  // output too.
  double tolerance() {
    std::vector<int> indices = input_tensors(setting_.task);
    append_tensors(setting_.task.outputs, indices);
    for (const PlanParameter& parameter : setting_.task.parameters)
      indices.push_back(parameter.tensor);
    double widest = 0;
    for (const int index : indices)
      widest = std::max(widest, tolerance_of(tensor_at(reference_.tensors(), index).scalar_type()));
    return setting_.tolerance ? std::min(widest, *setting_.tolerance) : widest;
  }

  bool outputs_are_finite() {
    std::vector<int> outputs;
    append_tensors(setting_.task.outputs, outputs);
    return std::ranges::all_of(outputs, [&](int index) {
      const at::Tensor& output = tensor_at(reference_.tensors(), index);
      return !output.is_floating_point() || at::isfinite(output).all().item<bool>();
    });
  }

  bool outputs_are_precise(const TensorTable& oracle) {
    std::vector<int> outputs;
    append_tensors(setting_.task.outputs, outputs);
    return !oracle.empty() && std::ranges::all_of(outputs, [&](int index) {
      // As measured: docs/numerics.md.
      constexpr double precise = 0.4;
      return own_error(tensor_at(reference_.tensors(), index),
                       oracle.at(static_cast<std::size_t>(index))) <= precise * tolerance();
    });
  }

  std::optional<VerdictError> compare_state(const TensorTable& oracle, const CompareOptions& how) {
    for (const Shared& each : shared_) {
      const at::Tensor& ours = tensor_at(reference_.tensors(), each.reference);
      const at::Tensor& theirs = tensor_at(candidate_.tensors(), each.candidate);
      if (!same_bytes(ours, each.before)) {
        Numerics ignored;
        const at::Tensor exact =
            oracle.empty() ? at::Tensor() : oracle.at(static_cast<std::size_t>(each.reference));
        if (auto error = compare_tensors(each.what, theirs, ours, exact, how, ignored))
          return VerdictError{.error_class = "state_mismatch",
                              .message = "the reference changes " + error->message};
      } else if (!same_bytes(theirs, each.before)) {
        return VerdictError{
            .error_class = each.is_input ? "input_mutated" : "weight_mutated",
            .message = fmt::format("{} was changed; the reference leaves it", each.what)};
      }
    }
    return std::nullopt;
  }

  std::optional<VerdictError> compare_devices() const {
    std::vector<int> ours, theirs;
    append_tensors(setting_.task.outputs, ours);
    append_tensors(setting_.candidate.outputs, theirs);
    const auto expected = tensors_on_cpu(setting_.task), got = tensors_on_cpu(setting_.candidate);
    for (std::size_t k = 0; k < std::min(ours.size(), theirs.size()); ++k)
      if (got.at(static_cast<std::size_t>(theirs[k])) &&
          !expected.at(static_cast<std::size_t>(ours[k])))
        return VerdictError{.error_class = "wrong_device",
                            .message = fmt::format("output tensor {} lies in the CPU's memory", k)};
    return std::nullopt;
  }

  // An output that is an input's own memory is allowed only where the reference's is.
  std::optional<VerdictError> compare_aliases() {
    if (aliases(setting_.candidate, candidate_.tensors()) &&
        !aliases(setting_.task, reference_.tensors()))
      return VerdictError{
          .error_class = "output_aliases_input",
          .message = "an output shares the memory of an input; the reference's does not"};
    return std::nullopt;
  }

  static bool aliases(const Plan& plan, TensorTable& tensors) {
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

  const TrialSetting& setting_;
  KernelExecutor& executor_;
  ReplayMemory& memory_;
  Filler filler_;
  Replay reference_, candidate_;
  std::vector<Shared> shared_;
  std::vector<OwnState> own_state_;
  TensorTable oracle_inputs_;
  TrialResult result_;
};

}  // namespace

TrialResult run_trial(const TrialSetting& setting, KernelExecutor& executor) {
  return Trial(setting, executor).run();
}

}  // namespace tritonsmith::gym
