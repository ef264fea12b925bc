// Finds the numbers with which a task's forward compares what it reduces its inputs to: the largest norm
// of a clip, or the edges of buckets for sums. Pure.
#pragma once

#include <vector>

#include "gym/plan/plan.h"

namespace tritonsmith::gym::plan::analysis {

// Returns the sizes of elements at which a norm, a sum or a mean of inputs has about the size of such a
// number, if a mean is taken. For `clamp(5000 / norm(x), max=1)` it is 5000. Only sizes from 16 to 1e9
// are returned, in ascending order: draws reach smaller ones. If forward multiplies sums of squares or
// the like, the size follows from their degree.
std::vector<double> reduced_bounds(const Plan& task);

}  // namespace tritonsmith::gym::plan::analysis
