// Looks for inputs that tell a fault from its task, beyond those of the trials: much larger, much
// smaller, constant and sorted ones, and other weights. It changes only inputs and weights that a
// generator drew, so that it stays in the task's domain. On the CPU; the referee's thread.
#pragma once

#include "gym/plan/plan.h"
#include "gym/referee/equipment.h"
#include "gym/referee/protocol/referee_job.h"
#include "gym/replay/replay.h"

namespace tritonsmith::gym::referee {

// The task and a plan with a fault, whose tensors have the task's numbers. In float64 rounding is no
// difference; as the plans are written, it is one.
struct FaultySides {
  const RefereeJob& job;
  const plan::Plan& task;
  const plan::Plan& candidate;
  replay::Precision precision = replay::Precision::float64;
};

// Returns whether the fault's results differ from the task's for some inputs.
bool differs_somewhere(Equipment& equipment, const FaultySides& sides);

}  // namespace tritonsmith::gym::referee
