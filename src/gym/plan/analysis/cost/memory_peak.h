// MemoryPeak: the most bytes that the tensors of a plan's forward hold at once. Weights, inputs and
// what the constructor made are there all the time. Any other memory is there from the step that makes
// it until its last use. Memory that an operator or a kernel takes for itself is not known. Pure.
#pragma once

#include "gym/plan/plan.h"

namespace tritonsmith::gym::plan::analysis {

double peak_bytes(const Plan& plan);

}  // namespace tritonsmith::gym::plan::analysis
