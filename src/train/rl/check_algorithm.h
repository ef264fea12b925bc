// Refuses combinations of algorithms without a meaning, in one line with the reason. This function
// is pure.
#pragma once

#include "train/rl/rl_config.h"

namespace tritonsmith::train {

Status check_algorithm(const RlConfig& config);

}  // namespace tritonsmith::train
