// The tensors whose numbers forward itself rounds, such as a quotient. A number that is whole there, or a half,
// is so by chance, and another order of operations gives a number beside it.
#pragma once

#include <vector>

#include "gym/plan/plan.h"

namespace tritonsmith::gym::plan::analysis {

// Says of each tensor of a plan whether forward rounded its numbers. Every operator rounds, with these
// exceptions. Views, casts, extremes, bounds, changes of sign, and products with powers of two or with whole
// numbers keep numbers as they are, rounded or not. Operators such as floor and round make exact numbers.
std::vector<bool> rounded_tensors(const Plan& task);

}  // namespace tritonsmith::gym::plan::analysis
