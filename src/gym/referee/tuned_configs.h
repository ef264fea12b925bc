// Trials of a candidate with tuned launches, over configs other than the first
// (gym/trial/choice_trials.h).
#pragma once

#include "gym/referee/equipment.h"
#include "gym/referee/trial_context.h"

namespace tritonsmith::gym::referee {

// Every config that an autotuner may pick. False when the job ends here.
bool run_other_choices(Equipment& equipment, const TrialContext& context, RefereeReport& report);

// The configs that the timing picked, on every kind of trial that has not tried them: users get the
// configs that were timed. False when the job ends here.
bool run_picked_choices(Equipment& equipment, const TrialContext& context,
                        const replay::Choices& picked, RefereeReport& report);

}  // namespace tritonsmith::gym::referee
