// Times a candidate that was found right, and its reference, on a GPU.
#pragma once

#include "gym/referee/equipment.h"
#include "gym/referee/trial_context.h"

namespace tritonsmith::gym::referee {

bool is_timed(const Equipment& equipment, const RefereeJob& job);

// The number of the trial that is timed; it comes last. It is the second plain trial where that was
// asked for, else a trial of its own. On a CPU, or without time for it, there is none: -1.
int timed_trial(const Equipment& equipment, const TrialContext& context);

// Runs that trial, whose outcome counts, and times its candidate. Then the configs that the timing
// picked are tried.
void time_plans(Equipment& equipment, const TrialContext& context, const Soundness& plain,
                RefereeReport& report);

}  // namespace tritonsmith::gym::referee
