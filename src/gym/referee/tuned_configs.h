// Runs trials of a candidate with tuned launches, over configs other than the first one
// (gym/trial/choice_trials.h).
#pragma once

#include "gym/referee/equipment.h"
#include "gym/referee/trial_context.h"

namespace tritonsmith::gym::referee {

// Runs each tuned launch twice, as an autotuner does to choose a config, where it resets and restores
// nothing and the kernel reads what it writes. Returns false if the result is then wrong.
bool run_as_tuned(Equipment& equipment, const TrialContext& context, RefereeReport& report);

// Tries every config that an autotuner may pick. Returns false if the job ends here.
bool run_other_choices(Equipment& equipment, const TrialContext& context, RefereeReport& report);

// Tries the configs that the timing picked on every other kind of trial, because users get the
// configs that were timed. Returns false if the job ends here.
bool run_picked_choices(Equipment& equipment, const TrialContext& context,
                        const replay::Choices& picked, RefereeReport& report);

}  // namespace tritonsmith::gym::referee
