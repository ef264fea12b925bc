// Runs the reference of a task without a candidate.
#pragma once

#include "gym/trial/trial_config.h"

namespace tritonsmith::gym::trial {

enum class Answer { takes, refuses, unknown };

// Says whether the reference's forward takes the inputs of this trial. `refuses`: an operator of
// forward throws. `unknown`: time or memory ran out. The config's candidate is not used.
Answer ask_reference(const TrialConfig& config, language::KernelExecutor& executor,
                     device::Device& device);

}  // namespace tritonsmith::gym::trial
