// Which memory outputs lie in. What forward returns is its caller's: where the reference gives
// memory of its own to each output, so must the candidate. Pure.
#pragma once

#include <set>

#include "gym/plan/plan.h"
#include "gym/referee/tensors.h"

namespace tritonsmith::gym {

// Whether some byte belongs to both. Slices of one memory that lie beside or between each other
// share none.
bool share_memory(const at::Tensor& a, const at::Tensor& b);

// The memories of what forward is given.
std::set<const void*> memory_of_inputs(const Plan& plan, const TensorTable& tensors);
// The memories that forward finds besides: weights, and what the constructor made.
std::set<const void*> memory_of_state(const Plan& plan, const TensorTable& tensors);

}  // namespace tritonsmith::gym
