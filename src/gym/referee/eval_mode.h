// Modules are judged as constructed, in training mode. A reference that then draws random numbers
// (dropout) cannot be held against anything; it is judged in evaluation mode instead, candidate and
// reference alike, by rewriting the flags that the recorded operators carry.
#pragma once

#include "gym/plan/plan.h"

namespace tritonsmith::gym {

// Whether forward draws random numbers, by the operators' own tags.
bool draws_in_forward(const Plan& plan);

// Dropout passes its input on, batch and instance norm use their running statistics.
Plan in_eval_mode(Plan plan);

}  // namespace tritonsmith::gym
