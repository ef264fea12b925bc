// Opens the gym of a training run, by its config.
#pragma once

#include "cli/setup/judges.h"
#include "train/rl/rl_config.h"

namespace tritonsmith::cli {

// `named` is what the call's options say. They override the config.
GymChoice gym_of(const train::RlConfig& config, const GymChoice& named = {});

}  // namespace tritonsmith::cli
