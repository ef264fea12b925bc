// Finds the operators by which a candidate's forward computes in torch although the policy leaves
// that to its own kernels. The plan alone shows them. Pure.
#pragma once

#include <vector>

#include "data/verdict.h"
#include "gym/plan/plan.h"

namespace tritonsmith::gym::trial {

// Adds one finding for each such operator, at the first line that uses it. The policy `fused` allows
// the kinds of vendor operators that the reference's own plan has.
void find_torch_compute(const plan::Plan& candidate, const plan::Plan& reference, Policy policy,
                        std::vector<Finding>& findings);

// Does the same for a candidate's first call (Plan::first_call). Operators that read nothing of its
// inputs may set up what they will, as a constructor may.
void find_torch_compute_of_first_call(const plan::Plan& candidate, const plan::Plan& reference,
                                      Policy policy, std::vector<Finding>& findings);

// Says whether forward leaves any work to PyTorch after which a kernel that only copies would be no
// work of its own: arithmetic, or under `strict` also copies, casts and joins.
bool computes_in_torch(const plan::Plan& candidate, Policy policy);

}  // namespace tritonsmith::gym::trial
