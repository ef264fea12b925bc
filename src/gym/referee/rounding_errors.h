// Finds out why a candidate's values are wrong in a trial: whether they are errors of rounding. The evaluator
// repeats the trial with the candidate's results rounded to coarser grids, and where it cannot tell, the trial
// is repeated with nudged inputs (gym/trial/weakness.h). The referee's one thread calls it for a trial that
// gave wrong values.
#pragma once

#include "gym/referee/equipment.h"
#include "gym/trial/trial_config.h"
#include "gym/trial/trial_result.h"

namespace tritonsmith::gym::referee {

// Says whether these errors of a trial are errors of rounding.
bool are_rounding_errors(Equipment& equipment, trial::TrialConfig config,
                         const trial::OutputErrors& errors);

}  // namespace tritonsmith::gym::referee
