// What judging a plan needs of memory, as its declarations have it, and a task's plan
// without what the referee does not replay. Pure.
#pragma once

#include "data/verdict.h"
#include "gym/plan/plan.h"

namespace tritonsmith::gym::plan::analysis {

// Two copies of the task's tensors, and the candidate's.
double needed_bytes(const Plan& task, const Plan& candidate);
// What looking at the task alone needs: a run, and what an earlier one made (lint.h).
double lint_bytes(const Plan& task);
// The reference in float64 besides.
double oracle_bytes(const Plan& task);
// Both, beside a candidate that takes as much as the reference.
double needed_bytes_with_oracle(const Plan& task);

// What the task's plan makes before forward, and why it ends there.
Plan without_forward(Plan task, const VerdictError& refusal);

}  // namespace tritonsmith::gym::plan::analysis
