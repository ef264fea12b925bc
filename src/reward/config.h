// RewardConfig: what each term of the reward is worth, and when a stage of execution counts as
// learnt.
#pragma once

#include "base/config.h"

namespace tritonsmith::reward {

// What execution must come to before it earns anything. accepted: right, and nothing that the
// checks refuse. correct: right alone, hacks too: only for measuring what the checks are worth.
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
  double format = 0.1;  // kernel-coder: the completion has its plan and its answer in tags
  double similarity =
      0.0;                // kernel-coder: likeness to a reference solution, where the task has one
  double compiled = 0.2;  // KernelTune's stages
  double correct = 1.0;
  double speed = 0.0;      // speed-up over the reference, up to speed_cap
  double speed_cap = 3.0;  // Dr. Kernel; TritonRL has 2
  double coverage = 0.0;   // Dr. Kernel's profiling reward: share of device time in own kernels
  double saturation_begin = 0.85;  // from this moving rate on, format and compiled pay less,
  double saturation_end = 0.97;    // from this one on nothing
  double rate_memory = 0.9;        // how much of the moving rate a step keeps
  static Fields<RewardConfig> fields();
};

}  // namespace tritonsmith::reward
