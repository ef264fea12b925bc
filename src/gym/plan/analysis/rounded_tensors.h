// The tensors whose numbers forward itself rounds, such as a quotient. A number that is whole there, or a half,
// is so by chance, and another order of operations gives a number beside it.
#pragma once

#include <vector>

#include "gym/plan/plan.h"

namespace tritonsmith::gym::plan::analysis {

// Says of each tensor of a plan whether forward rounds its numbers. Views, casts, extremes, bounds and products
// with powers of two keep numbers as they are; floor and round make whole ones. Every other operator rounds.
std::vector<bool> rounded_tensors(const Plan& task);

}  // namespace tritonsmith::gym::plan::analysis
