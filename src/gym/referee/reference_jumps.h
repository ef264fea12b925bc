// Asks whether the reference itself jumps at the elements at which a candidate is wrong (trial/jumps.h).
#pragma once

#include "gym/referee/equipment.h"
#include "gym/trial/trial.h"

namespace tritonsmith::gym::referee {

// Returns the values to adopt in a trial that failed. Returns nothing if the reference does not jump to
// the candidate's values at each wrong element, or if more than a few are wrong.
std::vector<trial::ElementValues> find_jumps(Equipment& equipment, trial::TrialConfig config,
                                             const trial::TrialResult& failed);

// Returns the result of a trial. If it failed only because the reference jumps, the trial runs again with
// the other values of the reference, and that result counts.
trial::TrialResult settle_jumps(Equipment& equipment, trial::TrialConfig config,
                                trial::TrialResult result);

}  // namespace tritonsmith::gym::referee
