// Modules are judged as constructed, in training mode. A reference that then draws random numbers
// (dropout) cannot be held against anything; what draws is judged in evaluation mode instead,
// candidate's and reference's alike, by rewriting the flags that the recorded operators carry. One
// that draws even so is given its numbers, and the candidate the same.
#pragma once

#include "gym/plan/plan.h"

namespace tritonsmith::gym::plan::analysis {

// Whether forward draws random numbers, by the operators' own tags.
bool draws_in_forward(const Plan& plan);

// Dropout passes its input on. Batch and instance norm draw nothing, and go on as they were built:
// a kernel for them owes the batch's statistics.
Plan in_eval_mode(Plan plan);

// What forward draws from a generator alone (an initial state, noise of a fixed shape) is drawn
// before it instead, each draw from a seed of its own, by its number: who draws the same in the
// same order has the same numbers. Draws that take a tensor (rand_like) stay where they are.
Plan with_draws_first(Plan plan);

}  // namespace tritonsmith::gym::plan::analysis
