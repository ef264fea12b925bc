// Overflow in fp16 on the way to a large result. A kernel that multiplies in fp16 gives infinity
// where PyTorch, which sums in float32, still gives a number. It is weak there, and computes all.
#pragma once

#include "gym/compare/compare.h"
#include "gym/trial/sides.h"

namespace tritonsmith::gym::trial {

// Says whether the candidate would be right if it did not overflow at elements of fp16 that are above
// 1/64 of the largest number of that type. The float64 result tells how large they are.
bool only_overflows(const Sides& sides, const tensors::TensorTable& exact,
                    const compare::CompareOptions& how);

Finding overflow_warning(Perturbation kind);

}  // namespace tritonsmith::gym::trial
