// Operators that depend on the width of their operands, such as x.view(torch.int32), in a replay in
// float64: they see their operands rounded to the dtypes that the plan declares, and their results are
// widened. The functions serve Replay, and throw what LibTorch throws.
#pragma once

#include <ATen/core/stack.h>

#include <set>

#include "gym/plan/plan.h"
#include "gym/tensors/tensors.h"

namespace tritonsmith::gym::replay {

// Returns the tensors with the call's floating operands in their declared dtypes.
tensors::TensorTable with_own_dtypes(const plan::Plan& plan, const plan::AtenCall& call,
                                     const tensors::TensorTable& tensors);
// Widens the floating tensors of an operator's results to float64.
void widen(torch::jit::Stack& results);
// Returns the storages, as the plan numbers them, of the call's results.
std::set<int> storages_of_results(const plan::Plan& plan, const plan::AtenCall& call);
// Tells whether one of these storages holds a result of the call.
bool lies_in(const std::set<int>& storages, const plan::Plan& plan, const plan::AtenCall& call);

}  // namespace tritonsmith::gym::replay
