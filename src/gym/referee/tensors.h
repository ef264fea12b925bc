// The one place that says which torch header the referee's headers use: the light one.
#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

namespace tritonsmith::gym {

// By the plan's tensor index; undefined where no step has made it yet.
using TensorTable = std::vector<at::Tensor>;

}  // namespace tritonsmith::gym
