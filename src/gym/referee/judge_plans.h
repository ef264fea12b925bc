// Judges a candidate's plan by its task's plan: refuses plans that cannot be judged, chooses how
// and in which mode the reference runs, and runs the trials.
#pragma once

#include <optional>

#include "gym/plan/plan.h"
#include "gym/referee/equipment.h"
#include "gym/referee/protocol/referee_job.h"
#include "gym/referee/python_references.h"

namespace tritonsmith::gym::referee {

struct PlanJudgement {
  RefereeReport report;
  std::optional<VerdictError> refusal;  // why the task's forward does not replay
};

PlanJudgement judge_plans(Equipment& equipment, PythonReferences& python, const RefereeJob& job,
                          const plan::Plan& task, const plan::Plan& candidate);

}  // namespace tritonsmith::gym::referee
