// Rewrites plans whose forward draws random numbers. The gym judges modules as constructed, in
// training mode. The outputs of a reference that draws (dropout) cannot be compared, so the gym
// judges it and its candidate in evaluation mode: it rewrites the flags of the recorded operators.
// If forward still draws, the referee draws beforehand and gives both sides the same numbers.
#pragma once

#include "gym/plan/plan.h"

namespace tritonsmith::gym::plan::analysis {

// Tells whether forward draws random numbers, by the tags of its operators.
bool draws_in_forward(const Plan& plan);

// Makes dropout pass its input on, and attention drop nothing. Batch norm and instance norm draw nothing and stay as they were
// built, because a kernel for them must compute the batch's statistics.
Plan in_eval_mode(Plan plan);

// Moves forward's draws that take no tensor (an initial state, noise of a fixed shape) before
// forward. Each draw has a number and a seed of its own. Two plans that draw the same in the same
// order therefore get the same numbers. Draws that take a tensor (rand_like) stay where they are.
Plan with_draws_first(Plan plan);

}  // namespace tritonsmith::gym::plan::analysis
