// Finds the number with which a task's forward multiplies its result in the end, as a loss divides by the
// number of samples. Pure.
#pragma once

#include "gym/plan/plan.h"

namespace tritonsmith::gym::plan::analysis {

// Returns the absolute value of the product of all numbers with which forward multiplies a floating output
// after its last other operator, at most 1. Of several outputs it is the largest. A rounding error before
// these products becomes so much smaller with them.
double final_scale(const Plan& task);

}  // namespace tritonsmith::gym::plan::analysis
