// Advantages: how much better each sample of a group (all answers to one prompt) did than the
// group. Pure functions on rewards; nothing here may fail. A sample without a reward (the gym
// failed, not the kernel) takes no part: it counts in no mean, and its advantage is 0.
//
// With r_1..r_n the rewards of a group, mean and standard deviation over these n:
//   grpo       A_i = (r_i - mean) / (std + epsilon)         DeepSeekMath, arXiv 2402.03300
//   mean_only  A_i = r_i - mean                             Dr. GRPO, arXiv 2503.20783
//   rloo       A_i = r_i - mean of the others
//                  = n / (n - 1) * (r_i - mean)             Back to Basics, arXiv 2402.14740
// A group of one has nothing to be compared with: A = 0 under every rule. A group without variance
// has A = 0 exactly (also where rounding of the mean would leave 1e-17, which dividing by a small
// epsilon would blow up).
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "base/enum_names.h"

namespace tritonsmith::algorithm {

enum class AdvantageRule { grpo, mean_only, rloo };

// unbiased divides by n - 1 (TRL, verl), population by n (nano-aha); at n = 8 they differ by 6.5 %.
enum class Deviation { unbiased, population };

struct AdvantageOptions {
  AdvantageRule rule = AdvantageRule::grpo;
  Deviation deviation = Deviation::unbiased;
  double epsilon = 1e-4;
};

using MaybeReward = std::optional<double>;

// One advantage for each reward, in their order.
std::vector<double> group_advantages(std::span<const MaybeReward> rewards,
                                     const AdvantageOptions& options);

// Fewer than two rewards, or all equal: such a group teaches nothing.
bool is_without_variance(std::span<const MaybeReward> rewards);

}  // namespace tritonsmith::algorithm

namespace tritonsmith {
template <>
inline constexpr auto enum_names<algorithm::AdvantageRule> =
    names<algorithm::AdvantageRule>({{algorithm::AdvantageRule::grpo, "grpo"},
                                     {algorithm::AdvantageRule::mean_only, "mean_only"},
                                     {algorithm::AdvantageRule::rloo, "rloo"}});
template <>
inline constexpr auto enum_names<algorithm::Deviation> =
    names<algorithm::Deviation>({{algorithm::Deviation::unbiased, "unbiased"},
                                 {algorithm::Deviation::population, "population"}});
}  // namespace tritonsmith
