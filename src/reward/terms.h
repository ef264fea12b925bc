// Terms: what a completion and its verdict are worth. Every term is kept with its value and its
// weight; the total is the sum of their products. Pure functions.
//
//   format      1 for a closed plan and one answer with code, 0.5 for a closed plan alone, else 0
//   (kernel-coder) similarity  to the reference solution, 0 to 1; there only where it has a weight
//   and the task a reference compiled    1 when it compiled and no finding rejects: a kernel that
//   cheats earns nothing for compiling correct     1 when the verdict is accepted: nothing less
//   earns for execution
//   speed       clip(speed-up, 0, speed_cap) of an accepted kernel; 0 where no GPU measured it
//   coverage    share of device time in the candidate's own kernels, of an accepted one (Dr.
//   Kernel's PR); both only where they have a weight
//
// With Earning::correct findings cost nothing, and whatever is correct stands for accepted.
#pragma once

#include <optional>
#include <string_view>

#include "data/kernel.h"
#include "data/reward.h"
#include "data/verdict.h"
#include "reward/config.h"
#include "reward/stages.h"

namespace tritonsmith::reward {

// What a plan decides (algorithm/hierarchy.h); all other terms are the code's.
inline constexpr const char* kSpeedTerm = "speed";
inline constexpr const char* kCoverageTerm = "coverage";

struct ScoreInput {
  const Kernel& kernel;
  const Verdict& verdict;  // of a completion without kernel: one with stage none
  std::optional<std::string_view> reference = std::nullopt;  // a known solution of the task
};

double format_value(const Kernel& kernel);

// Nothing when the verdict ended with a fault of ours: that must not teach the model anything.
std::optional<Reward> score(const ScoreInput& input, const RewardConfig& config,
                            const StageState& state);

}  // namespace tritonsmith::reward
