// Tells on which device each tensor of a plan would lie on a machine with a GPU. The replay uses
// one device for all tensors, so the plan's steps must show it. Factories and moves name a device.
// Every other result lies where its arguments lie. Pure.
#pragma once

#include <vector>

#include "gym/plan/plan.h"

namespace tritonsmith::gym::plan::analysis {

// Says for each tensor, by its index, whether it lies in the CPU's memory.
std::vector<bool> tensors_on_cpu(const Plan& plan);

}  // namespace tritonsmith::gym::plan::analysis
