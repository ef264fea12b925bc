// The third phase of a trial: compare what the two sides made. Values come first, then devices,
// state and shared memory. If all of that is right, the candidate runs again, and the trial finds
// out whether the outputs needed the kernels.
#pragma once

#include "gym/trial/run_sides.h"

namespace tritonsmith::gym::trial {

struct CheckedTrial {
  TrialResult result;
  // Whether one of the sides changed what its forward found. Known where the state was watched or
  // saved and the candidate is right.
  bool changed_state = false;
  // The tolerance extension, as Numerics has it, that the trial's one output needed. With several
  // outputs it is 0: they get no extension a second time.
  double tolerance_extension = 0;
};

CheckedTrial check(Sides& sides, PreparedSides& prepared, SideResults results);

}  // namespace tritonsmith::gym::trial
