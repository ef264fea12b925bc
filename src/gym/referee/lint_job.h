// Runs a job without a candidate: the referee lints the task before it judges candidates
// by it (lint.h).
#pragma once

#include "gym/plan/plan.h"
#include "gym/referee/equipment.h"
#include "gym/referee/protocol/referee_job.h"
#include "gym/referee/python_references.h"

namespace tritonsmith::gym::referee {

// Returns a report with the findings. The report has an infrastructure fault if the linter could
// not work; a later attempt may tell more.
RefereeReport lint_job(Equipment& equipment, PythonReferences& python, const RefereeJob& job,
                       const plan::Plan& task);

}  // namespace tritonsmith::gym::referee
