// Combinations of algorithms that make no sense, each refused in one line with the reason. Pure.
#pragma once

#include "train/rl_config.h"

namespace tritonsmith::train {

Status check_algorithm(const RlConfig& config);

}  // namespace tritonsmith::train
