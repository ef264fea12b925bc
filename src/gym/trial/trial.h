// Runs one trial in three phases: prepare() draws inputs and weights, run_sides() runs the
// candidate and then the reference, and check() compares what they made. The candidate goes first,
// while no expected output exists anywhere. One thread runs trials, one after the other.
#pragma once

#include <map>
#include <memory>
#include <vector>

#include "gym/trial/found_state.h"
#include "gym/trial/sides.h"
#include "gym/trial/trial_result.h"

namespace tritonsmith::gym::trial {

TrialResult run_trial(const TrialConfig& config, language::KernelExecutor& executor,
                      device::Device& device);

// Ends a trial on its device: new memory is no longer filled, and its size is no longer limited.
struct EndsTrial {
  void operator()(device::Device* device) const { device->end(); }
};

// A finished trial, with everything that the timing needs afterwards. It holds no expected output.
struct FinishedTrial {
  TrialResult result;
  Sides sides;  // the sides as forward left them, without the expected outputs
  // Snapshots of the task's inputs before forward, by the task's tensor index.
  std::map<int, device::Snapshot> inputs_before;
  // The memory before forward, with StateKeeping::saved.
  std::vector<SavedState> candidate_state, reference_state;
  bool changed_state = false;      // CheckedTrial::changed_state
  double tolerance_extension = 0;  // CheckedTrial::tolerance_extension
  std::unique_ptr<device::Device, EndsTrial> ends_with_this = {};
};

// Does the same as run_trial(), and keeps what the timing needs. The returned value uses the device
// until it is destroyed. Until then no other trial may run there.
FinishedTrial finish_trial(const TrialConfig& config, language::KernelExecutor& executor,
                           device::Device& device);

}  // namespace tritonsmith::gym::trial
