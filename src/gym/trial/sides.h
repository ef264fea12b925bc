// Sides: the reference and the candidate of one trial, as two replays with their tensors. The
// phases of the trial work on them: prepare.h, run_sides.h, check.h. A timing then runs the same
// sides again. The referee's one thread owns them.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "gym/trial/trial_config.h"

namespace tritonsmith::gym::trial {

// A task whose forward the Python reference ran, with the outputs of that run.
struct AnsweredTask {
  plan::Plan plan;             // the task's plan; the outputs follow its own tensors
  bool aliases_input = false;  // an output lies in an input's memory
  tensors::TensorTable exact;  // in float64, by index; undefined where it is not known
  std::string no_oracle;       // why there is no float64 result
};

struct Sides {
  Sides(const TrialConfig& trial_config, language::KernelExecutor& kernel_executor,
        device::Device& trial_device);

  TrialConfig config;
  language::KernelExecutor& executor;
  device::Device& device;
  tensors::Filler filler;  // the content of memory that the candidate did not write
  replay::Replay reference, candidate;
  std::vector<double> fills;             // the large numbers that the task writes (CompareOptions)
  std::optional<AnsweredTask> answered;  // the last answer of the Python reference

  // Returns the task's plan. If the Python reference runs forward, this plan has the outputs
  // of its last run.
  const plan::Plan& task() const { return answered ? answered->plan : config.task; }
  bool reference_replays() const { return config.python_reference == nullptr; }
  std::uint64_t seed_of(std::string_view purpose) const {
    return trial_seed(config.secret, purpose, config.trial);
  }
  void seed(std::string_view purpose) const { device.seed(seed_of(purpose)); }
};

// Returns the tolerance of values. The coarsest of the task's own floating types decides, because
// fp16 inputs give an fp32 output the noise of fp16.
compare::Tolerance tolerance_of(const Sides& sides);
// Returns how the candidate's outputs are compared with the reference's.
compare::CompareOptions comparison_of(const Sides& sides);
// Says whether the judge changed inputs or weights more than a little.
bool is_changed(const TrialConfig& config);
// Says whether the tolerance may grow with PyTorch's own error. It may in 16 bits, in trials in
// which the judge changed inputs or weights.
bool may_widen(const Sides& sides);

// Wait for the device and return why the side stopped, if it did. `stop` is what the replay
// returned. If the replay stopped for no reason of its own, a fault that the device reports now is
// the reason.
std::optional<replay::Stop> await_candidate(const Sides& sides, std::optional<replay::Stop> stop);
std::optional<replay::Stop> await_reference(const Sides& sides, std::optional<replay::Stop> stop);

// Overwrites all that the reference's forward made, so that no expected output is left anywhere.
void forget_expected(const Sides& sides);
// Does the same for other tensors of the task's plan.
void forget_made(const Sides& sides, const tensors::TensorTable& tensors);

}  // namespace tritonsmith::gym::trial
