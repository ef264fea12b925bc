// Finds out whether rounding explains the wrong values of a candidate in a trial. The evaluator repeats the
// trial with the candidate's results rounded to coarser grids. If this does not tell, the referee repeats the
// trial with nudged inputs (gym/trial/weakness.h). The referee's one thread calls it for a trial that gave
// wrong values.
#pragma once

#include "gym/referee/equipment.h"
#include "gym/trial/trial_config.h"
#include "gym/trial/trial_result.h"

namespace tritonsmith::gym::referee {

// Says whether these errors of a trial, which are its TrialResult::errors, are errors of rounding. A repetition
// that stops, or that runs out of time, counts for nothing.
bool are_rounding_errors(Equipment& equipment, trial::TrialConfig config,
                         const trial::OutputErrors& errors);

}  // namespace tritonsmith::gym::referee
