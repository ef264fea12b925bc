// Which memory outputs lie in. What forward returns is its caller's: where the reference gives
// memory of its own to each output, so must the candidate. Pure.
#pragma once

#include <set>

#include "gym/plan/plan.h"
#include "gym/tensors/tensors.h"

namespace tritonsmith::gym::trial {

// Whether some byte belongs to both. Slices of one memory that lie beside or between each other
// share none.
bool share_memory(const at::Tensor& a, const at::Tensor& b);

// The memories of what forward is given.
std::set<const void*> memory_of_inputs(const plan::Plan& plan, const tensors::TensorTable& tensors);
// The memories that forward finds besides: weights, and what the constructor made.
std::set<const void*> memory_of_state(const plan::Plan& plan, const tensors::TensorTable& tensors);

}  // namespace tritonsmith::gym::trial
