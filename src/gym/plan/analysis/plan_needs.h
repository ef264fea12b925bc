// The memory that judging a plan needs, from the sizes that the plan declares, and the part of a
// task's plan that the referee replays. All sizes are in bytes. Pure.
#pragma once

#include "data/verdict.h"
#include "gym/plan/plan.h"

namespace tritonsmith::gym::plan::analysis {

// For two copies of the task's tensors and one of the candidate's.
double needed_bytes(const Plan& task, const Plan& candidate);
// For linting the task alone: one run, and the tensors that an earlier run made (lint.h).
double lint_bytes(const Plan& task);
// For the float64 replay of the reference, which runs beside the others.
double oracle_bytes(const Plan& task);
// For two copies of the task, the float64 replay and a candidate that takes as much as the
// reference.
double needed_bytes_with_oracle(const Plan& task);

// The part of the task's plan that runs before forward, with the reason why the plan ends there.
Plan without_forward(Plan task, const VerdictError& refusal);

}  // namespace tritonsmith::gym::plan::analysis
