// On which device each tensor of a plan would lie, had it been run on a machine with a GPU. The
// replay itself uses one device for all, so this is told from the steps: factories and moves name a
// device, everything else stays where its arguments are. Pure.
#pragma once

#include <vector>

#include "gym/plan/plan.h"

namespace tritonsmith::gym::plan::analysis {

// By index of the tensor: whether it lies in the CPU's memory.
std::vector<bool> tensors_on_cpu(const Plan& plan);

}  // namespace tritonsmith::gym::plan::analysis
