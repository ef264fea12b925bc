// RewardConfig: the weight of each term of the reward, and the rates at which the terms `format`
// and `compiled` stop paying.
#pragma once

#include "base/config.h"

namespace tritonsmith::reward {

// The verdict that earns the terms `correct`, `speed` and `coverage`. accepted: the kernel is
// correct and no rule rejects it. correct: the kernel is correct, even if it cheats. The latter
// serves only to measure the effect of the rules.
enum class Earning { accepted, correct };

}  // namespace tritonsmith::reward

template <>
inline constexpr auto tritonsmith::enum_names<tritonsmith::reward::Earning> =
    tritonsmith::names<tritonsmith::reward::Earning>(
        {{tritonsmith::reward::Earning::accepted, "accepted"},
         {tritonsmith::reward::Earning::correct, "correct"}});

namespace tritonsmith::reward {

struct RewardConfig {
  Earning earning = Earning::accepted;
  double format = 0.1;  // from kernel-coder: thinking and answer stand in their tags
  // from kernel-coder: similarity to a reference solution, if the task has one
  double similarity = 0.0;
  double compiled = 0.2;  // compiled and correct are KernelTune's stages
  double correct = 1.0;
  double speed = 0.0;      // speed-up over the reference, at most speed_cap
  double speed_cap = 3.0;  // Dr. Kernel's value; TritonRL takes 2
  double coverage = 0.0;   // Dr. Kernel's profiling reward: share of device time in own kernels
  double saturation_begin = 0.85;  // from this moving rate on, format and compiled pay less
  double saturation_end = 0.97;    // from this moving rate on, they pay nothing
  double rate_memory = 0.9;        // share of the old moving rate that a step keeps
  static Fields<RewardConfig> fields();
};

}  // namespace tritonsmith::reward
