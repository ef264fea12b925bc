// One trial: draw inputs and weights, run the candidate on poisoned memory, then the reference,
// then its float64 twin, and hold the results against each other. The candidate goes first, when no
// expected output exists anywhere.
#pragma once

#include <optional>
#include <string>

#include "gym/replay/replay.h"
#include "gym/trial/kernel_use.h"
#include "gym/trial/perturbation.h"
#include "gym/trial/reference_source.h"

namespace tritonsmith::gym::cuda {
struct FusedOracle;
}

namespace tritonsmith::gym::trial {

struct EarlyWeight;
struct WeightPair;

struct TrialConfig {
  const plan::Plan& task;
  const plan::Plan& candidate;
  std::string_view secret;
  int trial = 0;
  Perturbation kind = Perturbation::plain;
  std::optional<WeightChange> weights;  // else as the kind has it
  bool later_call = false;              // judges the second call of forward, on inputs of its own
  replay::Choices choices;              // of tuned launches
  language::ProgramOrder order = {};
  Comparison comparison = Comparison::budget;
  std::optional<double> tolerance;
  Deadline deadline = Deadline::never();
  std::int64_t memory_bytes = 0;
  bool with_oracle = true;           // run the reference in float64 as well
  bool try_without_kernels = false;  // find out whether the outputs need the kernels at all
  bool watch_launches = false;       // find out whether kernels do anything but copy
  ReferenceSource* shell = nullptr;  // runs forward of a task whose plan lacks it
  ReferenceMode mode = ReferenceMode::train;  // there
  const cuda::FusedOracle* fused = nullptr;   // the task's, if it has one
};

// Up to this share of its tolerance PyTorch's own rounding on extreme inputs leaves room for
// another kernel's; as measured: docs/numerics.md.
inline constexpr double kPreciseShare = compare::kToleranceRules.precise_share;

// What a trial remembers of the memory that forward finds: nothing; whether it was changed; or all
// of its bytes.
enum class StateKeeping { none, watched, saved };

// One memory that forward found: all its bytes, and what they were.
struct SavedState {
  at::Tensor bytes;  // shares the memory
  at::Tensor saved;  // a copy
};

struct TrialResult {
  std::optional<replay::Stop> candidate_stop;
  std::optional<replay::Stop> reference_stop;
  bool forward_refused = false;  // the reference's stop is that its plan's forward does not replay
  std::optional<VerdictError> difference;  // of outputs, or of what must not change
  bool reference_is_finite = true;
  // PyTorch's own rounding in units of the tolerance times the output's size; 0: not asked,
  // infinite: not known.
  double reference_error = 0;
  // It is by the elements' own sizes and in units of a widened tolerance: 16 bits, changed numbers.
  bool is_error_widened = false;
  bool is_exact_known = true;  // false: there is no reference in float64
  // On extreme values: no number from the candidate where PyTorch has one, and exactly it is no
  // large one.
  bool breaks_down = false;
  bool reference_keeps_state = false;  // forward changes a weight or a buffer
  bool right_without_kernels = false;  // the outputs are right even where no kernel runs
  bool kernels_only_copied = false;    // of watched launches
  // The reference changed as little (coincidence.h): the trial is no evidence of either.
  bool needless_by_coincidence = false, copied_by_coincidence = false;
  Numerics numerics;
  replay::LaunchTraces launches;
  std::vector<Finding> findings;
  std::string no_oracle;  // why the shell could not run the reference in float64
  double draw_ms = 0, candidate_ms = 0, reference_ms = 0, compare_ms = 0;
};

// Whether a reference's forward stopped at the operators as such, not at what they did to the
// numbers or how long they took: then a shell may run it.
bool does_not_replay(const replay::Stop& stop);

// One trial, kept with all its tensors for whoever runs it again (timing).
class Trial {
 public:
  Trial(const TrialConfig& config, language::KernelExecutor& executor, device::Device& device);
  ~Trial();
  Trial(const Trial&) = delete;
  Trial& operator=(const Trial&) = delete;

  TrialResult run();

  replay::Replay& reference() { return reference_; }
  replay::Replay& candidate() { return candidate_; }
  const TrialConfig& setting() const { return config_; }
  // The task's plan; with the outputs that came, where a shell runs its forward.
  const plan::Plan& task() const { return answered_ ? *answered_ : config_.task; }
  bool reference_replays() const { return config_.shell == nullptr; }
  // Once more, on what its inputs and weights hold now: only where a shell runs it.
  std::optional<replay::Stop> ask_shell();
  // Asked for before run().
  void keep_state(StateKeeping keeping) { keeping_ = keeping; }
  // Watched or saved, and found right: whether one of the two changed what its forward found.
  bool changed_state() const { return changed_state_; }
  // What an input of the task, by its tensor, was when forward found it.
  std::optional<device::Snapshot> input_before(int reference) const;
  // Of both sides, bytes as they were before forward, where they were saved.
  std::vector<SavedState> take_candidate_state() { return std::move(candidate_state_); }
  std::vector<SavedState> take_reference_state() { return std::move(reference_state_); }
  // Overwrites all that the reference's forward made, so that no expected output is left anywhere.
  void forget_expected();
  // The reference in float64 on what its inputs hold now; empty where it does not run so.
  tensors::TensorTable exact_again();
  // Of values, as the task's dtypes have it.
  compare::Tolerance tolerance();
  // As Numerics has it, of this trial's one output; with several nobody is let be again.
  double leeway() const { return leeway_; }

 private:
  // Something both sides hold and that forward may change: an input, or a matched weight.
  struct Shared {
    std::string what;
    int reference = 0, candidate = 0;
    bool is_input = false;
    device::Snapshot before;
    std::optional<std::size_t> copied;  // `before` is what the place says of the nth copied
  };

  // A weight or a buffer of the reference that the candidate does not have.
  struct Unmatched {
    std::string name;
    int reference = 0;
    device::Snapshot before;
  };

  // What the candidate's constructor made for itself and forward touches: each memory once.
  struct OwnState {
    at::Tensor bytes;  // shares the memory
    at::Tensor saved;
    device::Snapshot before;
  };

  std::uint64_t seed_of(std::string_view purpose) const {
    return trial_seed(config_.secret, purpose, config_.trial);
  }
  void seed(std::string_view purpose);
  bool draw();
  bool construct_candidate(std::span<const EarlyWeight> early);
  bool share_weights();
  void remember_shared();
  void remember_unmatched(const std::vector<WeightPair>& pairs);
  bool call_before();
  bool share_inputs();
  void copy_inputs(std::span<device::DrawnInput> inputs);
  bool refuse_inputs(std::string_view how);
  // The device's own fault, which comes late, goes before what the replay said.
  void await_candidate();
  void await_reference();
  void run_candidate();
  void prepare_oracle();
  void run_reference();
  void take_answer(ReferenceAnswer answer);
  void widen_inputs();
  tensors::TensorTable run_oracle();
  void judge();
  bool judge_at_once(const tensors::TensorTable& oracle);
  std::optional<compare::ExactValues> exact_values(const at::Tensor& reference,
                                                   const tensors::TensorTable& oracle, int output);
  std::vector<at::Tensor> shared_now();
  bool restore_shared();
  void keep_own_state();
  void watch_state();
  void see_changed_state();
  std::optional<VerdictError> compare_with_reference(const tensors::TensorTable& tensors);
  void ask_again();
  void see_coincidence();
  bool hides_what_kernels_read();
  bool is_hidden(int input);
  std::optional<bool> same_with(int input, const at::Tensor& values);
  bool answers_again(const tensors::TensorTable& after_init);
  std::optional<replay::Stop> run_again(replay::Replay& again, std::string_view draws);
  std::optional<VerdictError> changed_shared();
  std::optional<VerdictError> answer_other_inputs();
  std::optional<VerdictError> differs_on_other_inputs();
  std::vector<SavedState> hide_expected();
  void forget_made(const tensors::TensorTable& tensors);
  void spoil_outputs();
  std::optional<replay::Replay> another_replay(const tensors::TensorTable& tensors,
                                               replay::Launches launches, tensors::Filler filler);
  compare::CompareOptions comparison();
  // Whether the judge changed inputs or weights more than a little.
  bool is_changed() const {
    return config_.kind != Perturbation::plain || config_.weights == WeightChange::strong;
  }
  bool may_widen();
  void measure_reference(const tensors::TensorTable& oracle);
  void see_breakdown(const tensors::TensorTable& oracle);
  void look_at_precise_outputs(const tensors::TensorTable& oracle,
                               const compare::CompareOptions& how);
  double widening(const tensors::TensorTable& oracle);
  std::optional<VerdictError> compare_devices() const;
  std::optional<VerdictError> compare_state(const tensors::TensorTable& oracle,
                                            const compare::CompareOptions& how);
  std::optional<VerdictError> compare_aliases();

  TrialConfig config_;
  language::KernelExecutor& executor_;
  device::Device& device_;
  tensors::Filler filler_;
  replay::Replay reference_, candidate_;
  std::vector<Shared> shared_;
  std::vector<Unmatched> unmatched_;
  std::vector<OwnState> own_state_;
  std::optional<plan::Plan> answered_;
  bool aliases_input_ = false;  // the shell's outputs
  tensors::TensorTable oracle_inputs_;
  tensors::TensorTable oracle_;  // as the shell gave it
  bool has_oracle_ = false, changed_state_ = false;
  double leeway_ = 0;
  bool shared_is_intact_ = false;  // known since nothing has run
  StateKeeping keeping_ = StateKeeping::none;
  std::vector<at::Tensor> watched_;  // memory of both sides that they do not share, as bytes
  std::vector<device::Snapshot> watched_before_;
  std::vector<SavedState> candidate_state_, reference_state_;
  TrialResult result_;
};

TrialResult run_trial(const TrialConfig& config, language::KernelExecutor& executor,
                      device::Device& device);

}  // namespace tritonsmith::gym::trial
