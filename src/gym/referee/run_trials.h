// Runs the trials of one job in their order: the trials that the job asks for, then extreme inputs,
// then other configs of tuned launches, and last the timing.
#pragma once

#include "gym/referee/equipment.h"
#include "gym/referee/judge_plans.h"
#include "gym/referee/trial_context.h"

namespace tritonsmith::gym::referee {

// Writes what the trials show into the report. Returns false if the candidate is not correct.
bool run_trials(Equipment& equipment, const TrialContext& given, PlanJudgement& judgement);

// Runs one trial. A candidate that fails with its programs in another order runs again with them in
// order. If it is right there, it has a race: a GPU guarantees no order.
trial::TrialResult run_ordered_trial(Equipment& equipment, trial::TrialConfig config);

// Runs a perturbed trial that counts. It counts only if the reference's numbers are as sound as on
// the task's own inputs. For example, sin(exp(x * x)) loses all its digits at twice the inputs, in
// PyTorch and in a right kernel. If they are less sound, the trial changes weights less, then it
// leaves the inputs alone, then both.
trial::TrialResult run_usable_trial(Equipment& equipment, trial::TrialConfig config,
                                    const Soundness& plain);

}  // namespace tritonsmith::gym::referee
