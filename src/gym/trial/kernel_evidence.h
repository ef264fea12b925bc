// Whether a trial proves anything about kernels that seem to do nothing. Some inputs cannot show
// what a kernel does: where the reference leaves values unchanged too, or where the input that the
// kernels read decides nothing.
#pragma once

#include "gym/trial/sides.h"
#include "gym/trial/trial_result.h"

namespace tritonsmith::gym::trial {

// Marks the result's suspicions as inconclusive where these inputs prove nothing. It does nothing
// without a suspicion, which is the rule. On a GPU it also adds stores to the launch traces that
// nobody could see there.
void weigh_unchanged_values(Sides& sides, TrialResult& result);

}  // namespace tritonsmith::gym::trial
