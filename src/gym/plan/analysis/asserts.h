// Finds tasks whose reference would end a GPU's context on some inputs. PyTorch's CUDA kernels
// assert what its CPU kernels refuse with an exception, such as a probability beyond 0 and 1. Pure.
#pragma once

#include "gym/plan/plan.h"

namespace tritonsmith::gym::plan::analysis {

// True if an operator of forward checks floating values, or indices that were calculated from such
// values. Indices that were drawn, or that a sort gave, lie in their range whatever the inputs are.
bool may_assert_on_gpu(const Plan& task);

}  // namespace tritonsmith::gym::plan::analysis
