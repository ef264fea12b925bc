// Makes the variant of a 16-bit task that computes everything in float32 and rounds only what it
// returns, as a fused kernel does. PyTorch rounds after each operator. Pure.
#pragma once

#include <optional>

#include "gym/plan/plan.h"

namespace tritonsmith::gym::plan::faults {

// Returns nothing if forward holds no 16-bit numbers, or changes a tensor in place.
std::optional<Plan> in_float32(const Plan& task);

}  // namespace tritonsmith::gym::plan::faults
