// A job without a candidate: the referee lints its task before anybody is judged by it (lint.h).
#pragma once

#include "gym/plan/plan.h"
#include "gym/referee/equipment.h"
#include "gym/referee/protocol/referee_job.h"
#include "gym/referee/python_references.h"

namespace tritonsmith::gym::referee {

// The report has the findings. It has a fault of the infrastructure where that failed, and another
// time may tell more.
RefereeReport lint_job(Equipment& equipment, PythonReferences& python, const RefereeJob& job,
                       const plan::Plan& task);

}  // namespace tritonsmith::gym::referee
