// The third phase of a trial: compares what the two sides made. Values come first, then devices,
// state and shared memory. If all of that is right, the candidate runs again, and the trial finds
// out whether the outputs needed the kernels.
#pragma once

#include "gym/trial/run_sides.h"

namespace tritonsmith::gym::trial {

struct CheckedTrial {
  TrialResult result;
  // Says whether one of the sides changed the memory that its forward found. This is known if the
  // state was watched or saved and the candidate is right.
  bool changed_state = false;
  // The tolerance extension, as in Numerics, that the trial's one output needed. With several
  // outputs it is 0: later comparisons do not extend the tolerance again.
  double tolerance_extension = 0;
};

CheckedTrial check(Sides& sides, PreparedSides& prepared, SideResults results);

}  // namespace tritonsmith::gym::trial
