// Calls the candidate again after it proved right. A candidate that keeps something from one call
// to the next must still be right with the same inputs and with others. Run once more without its
// kernels, it shows whether the outputs needed them.
#pragma once

#include "gym/trial/prepare.h"

namespace tritonsmith::gym::trial {

// A candidate whose first call was right.
struct RightCall {
  Sides& sides;
  const PreparedSides& prepared;
  double tolerance_extension = 0;  // the extension that the first call needed
  bool shared_is_intact = false;   // all that the sides share is as it was before the first call
};

// Adds what these calls show to the result: a difference, a stop, or that the outputs are right
// without kernels.
void call_again(RightCall call, TrialResult& result);

}  // namespace tritonsmith::gym::trial
