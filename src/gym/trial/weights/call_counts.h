// Sets the buffers in which a task counts its calls to what they hold after many calls.
#pragma once

#include <utility>
#include <vector>

#include "gym/trial/trial_config.h"

namespace tritonsmith::gym::trial {

// A tensor of the task, and the number for it.
using Counts = std::vector<std::pair<int, double>>;

// Returns what the trial's counters hold at its beginning, given what the constructor left in them. A
// counter of another form than its plan says has none.
Counts counts_after_calls(const TrialConfig& config, const tensors::TensorTable& reference);

void set_counts(const Counts& counts, tensors::TensorTable& reference);

}  // namespace tritonsmith::gym::trial
