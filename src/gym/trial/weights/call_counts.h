// Sets the buffers in which a task counts its calls to what they hold after many calls.
#pragma once

#include <utility>
#include <vector>

#include "gym/plan/analysis/call_counters.h"
#include "gym/tensors/tensors.h"

namespace tritonsmith::gym::trial {

// A tensor of the task, and the number for it.
using Counts = std::vector<std::pair<int, double>>;

// Returns what the counters hold after so many calls, given what the constructor left in them. A counter of
// another form than its plan says has none. Null: no counter counts.
Counts counts_after_calls(const std::vector<plan::analysis::CallCounter>* counters,
                          std::int64_t calls, const tensors::TensorTable& reference);

void set_counts(const Counts& counts, tensors::TensorTable& reference);

}  // namespace tritonsmith::gym::trial
