// Rewrites plans of a forward that returns no tensor. The inputs and buffers that it writes, such
// as a cache of keys, show what it does. Pure.
#pragma once

#include <optional>
#include <utility>

#include "gym/plan/plan.h"

namespace tritonsmith::gym::plan::analysis {

// Returns both plans with the inputs and buffers that the task's forward writes as further outputs of
// both sides. Returns nothing if one of the sides returns a tensor, or if the task's forward writes
// nothing of that kind.
std::optional<std::pair<Plan, Plan>> with_changes_returned(const Plan& task, const Plan& candidate);

}  // namespace tritonsmith::gym::plan::analysis
