// Names the chip that a judge of this machine compiles for, and the GPUs that time its kernels, as
// JSON.
#pragma once

#include "base/json.h"
#include "gym/judge/local_judge.h"

namespace tritonsmith::cli {

// Fails if the config names GPUs that are missing, or that are not alike.
Result<Json> device_facts(const gym::judge::LocalJudgeConfig& config);

}  // namespace tritonsmith::cli
