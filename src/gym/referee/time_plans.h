// Times a candidate that was found right, and its reference, on a GPU.
#pragma once

#include "gym/referee/equipment.h"
#include "gym/referee/trial_context.h"

namespace tritonsmith::gym::referee {

bool is_timed(const Equipment& equipment, const RefereeJob& job);

// Returns the number of the trial that is timed; this trial comes last. It is the second plain
// trial if the job asks for one, or else a trial of its own. Returns -1 on a CPU, or if the job
// leaves no time for it.
int timed_trial(const Equipment& equipment, const TrialContext& context);

// Runs that trial, whose outcome counts, and times its candidate. Then it tries the configs that
// the timing picked.
void time_plans(Equipment& equipment, const TrialContext& context, const Soundness& plain,
                RefereeReport& report);

}  // namespace tritonsmith::gym::referee
