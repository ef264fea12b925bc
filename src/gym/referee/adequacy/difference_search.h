// Looks for inputs that tell a fault from its task, beyond those of the trials: much larger, much
// smaller, constant and sorted ones, and other weights. It changes only inputs and weights that a
// generator drew, so that it stays in the task's domain. On the CPU; the referee's thread.
#pragma once

#include "gym/plan/plan.h"
#include "gym/referee/equipment.h"
#include "gym/referee/protocol/referee_job.h"

namespace tritonsmith::gym::referee {

// Returns whether the fault's results differ from the task's for some inputs by more than rounding.
// The candidate is a plan with a fault: its tensors have the task's numbers.
bool differs_somewhere(Equipment& equipment, const RefereeJob& job, const plan::Plan& task,
                       const plan::Plan& candidate);

}  // namespace tritonsmith::gym::referee
