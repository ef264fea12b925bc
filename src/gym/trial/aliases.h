// Compares the memory in which the outputs of both sides lie. The caller of forward owns what
// forward returns. Where the reference gives each output memory of its own, the candidate must do
// so too. Pure but for reading tensors.
#pragma once

#include <set>
#include <span>

#include "gym/plan/plan.h"
#include "gym/tensors/tensors.h"
#include "gym/trial/shared_tensors.h"
#include "gym/trial/sides.h"

namespace tritonsmith::gym::trial {

// Says whether some byte belongs to both tensors. Slices of one memory that lie beside or between
// each other share none.
bool share_memory(const at::Tensor& a, const at::Tensor& b);

// The memories of forward's inputs.
std::set<const void*> memory_of_inputs(const plan::Plan& plan, const tensors::TensorTable& tensors);
// The memories that forward finds apart from its inputs: weights, and what the constructor or a
// first call made.
std::set<const void*> memory_of_state(const plan::Plan& plan, const tensors::TensorTable& tensors);

// Outputs may share memory with inputs, with the weights of both sides and with each other only
// where the reference's outputs do. The Python reference only tells whether an output lies in an
// input. Returns the difference, if any.
std::optional<VerdictError> compare_aliases(Sides& sides, std::span<const SharedTensor> shared);

// Says whether an output lies in memory that the candidate keeps from call to call, where the
// reference's does not. The next call then overwrites it.
bool keeps_output(Sides& sides);

}  // namespace tritonsmith::gym::trial
