// Decides whether a trial proves anything about kernels that seem to do nothing. Some inputs cannot
// show what a kernel does: the reference leaves their values unchanged too, or the input that the
// kernels read decides nothing.
#pragma once

#include "gym/trial/sides.h"
#include "gym/trial/trial_result.h"

namespace tritonsmith::gym::trial {

// Marks the result's suspicions as inconclusive if these inputs prove nothing. Without a suspicion,
// which is the rule, it does nothing. On a GPU it also adds stores to the launch traces that the
// device could not see.
void weigh_unchanged_values(Sides& sides, TrialResult& result);

// Returns the share of output elements that are wrong in `without`, the candidate's tensors after a
// forward in which no kernel ran. Elements that an input already holds at their position do not
// count, because the reference did not compute them either. Of a large output a sample counts.
// Returns nothing if no element counts.
std::optional<double> share_that_needs_kernels(const Sides& sides,
                                               const tensors::TensorTable& without);

}  // namespace tritonsmith::gym::trial
