// Advice: what a user can do about a verdict's error, added to the error's message. Advice changes
// no decision. The functions are pure.
#pragma once

#include "data/verdict.h"
#include "gym/plan/plan.h"

namespace tritonsmith::gym::judge {

// Adds what to do about a kernel that is too large to evaluate, and what a kernel's language advises
// if values are wrong. `candidate` is the plan that was judged.
void add_advice(const plan::Plan& candidate, Verdict& verdict);

}  // namespace tritonsmith::gym::judge
