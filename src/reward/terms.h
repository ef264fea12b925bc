// Terms: the parts of the reward for a completion and its verdict. Every term keeps its value and
// its weight; the total is the sum of their products. All functions are pure.
//
//   format      1 if the completion has closed thinking and one answer with code, 0.5 if it has
//               closed thinking alone, else 0 (kernel-coder)
//   similarity  similarity to the reference solution, 0 to 1; present only if it has a weight and
//               the task has a reference solution
//   compiled    1 if the kernel compiled and no finding rejects it, else 0. So a kernel that cheats
//               earns nothing
//   correct     1 if the verdict is accepted, else 0
//   speed       clip(speed-up, 0, speed_cap) of an accepted kernel; 0 if no GPU measured it
//   coverage    share of device time in the candidate's own kernels, of an accepted kernel
//               (Dr. Kernel's PR)
//
// speed and coverage are present only if they have a weight. With Earning::correct, findings do not
// matter: every correct kernel counts as accepted.
#pragma once

#include <optional>
#include <string_view>

#include "data/kernel.h"
#include "data/reward.h"
#include "data/verdict.h"
#include "reward/config.h"
#include "reward/stages.h"

namespace tritonsmith::reward {

// Hierarchical credit (algorithm/hierarchy.h) attributes these two terms to the completion's
// thinking, and all other terms to its code.
inline constexpr const char* kSpeedTerm = "speed";
inline constexpr const char* kCoverageTerm = "coverage";

struct ScoreInput {
  const Kernel& kernel;
  const Verdict& verdict;  // for a completion without a kernel: a verdict with stage none
  std::optional<std::string_view> reference = std::nullopt;  // a known solution of the task
};

double format_value(const Kernel& kernel);

// Returns nothing if the verdict ended with an infrastructure fault, which must not teach the
// model.
std::optional<Reward> score(const ScoreInput& input, const RewardConfig& config,
                            const StageState& state);

}  // namespace tritonsmith::reward
