// Estimates the memory that judging a plan needs, from the sizes that the plan declares, and cuts a
// task's plan down to the part that the referee replays. All sizes are in bytes. Pure.
#pragma once

#include "data/verdict.h"
#include "gym/plan/plan.h"

namespace tritonsmith::gym::plan::analysis {

// Returns the bytes for two copies of the task's tensors and one of the candidate's.
double needed_bytes(const Plan& task, const Plan& candidate);
// Returns the bytes for linting the task alone: one run, and the tensors that an earlier run
// made (lint.h).
double lint_bytes(const Plan& task);
// Returns the bytes for the float64 replay of the reference, which runs beside the others.
double oracle_bytes(const Plan& task);
// Returns the bytes for two copies of the task, the float64 replay, and a candidate that takes as
// much memory as the reference.
double needed_bytes_with_oracle(const Plan& task);

// Returns the part of the task's plan that runs before forward, with the reason why the
// plan ends there.
Plan without_forward(Plan task, const VerdictError& refusal);

}  // namespace tritonsmith::gym::plan::analysis
