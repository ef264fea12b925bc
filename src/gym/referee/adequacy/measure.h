// Measures a task's adequacy: it makes faulty plans and legitimate variants from the task's plan,
// and runs each one through the judge's trials as a candidate (docs/adequacy.md). A fault counts as
// told if it is refused under each of several secrets. On the CPU; the referee's thread.
#pragma once

#include "data/adequacy.h"
#include "gym/plan/plan.h"
#include "gym/referee/equipment.h"
#include "gym/referee/protocol/referee_job.h"

namespace tritonsmith::gym::referee {

// job.adequacy_secrets says how many secrets follow from the job's. The time of job.budget is
// shared by all trials. If it is not enough, faults are left out by chance.
Adequacy measure_adequacy(Equipment& equipment, const RefereeJob& job, const plan::Plan& task);

}  // namespace tritonsmith::gym::referee
