// Advantages: compare the reward of each outcome (a sample, or one turn of it) with the rewards of
// other outcomes. The functions are pure and cannot fail. An outcome without a reward (the gym
// failed, or a filter rejected it) takes no part. It counts in no mean, and its advantage is 0.
//
// Outcomes are compared within groups: all samples of a prompt. In many turns, a group is all
// samples' turns with the same number. Let r_1..r_n be the rewards of a group; in many turns they
// are returns (returns.h).
//   grpo       A_i = (r_i - mean) / (std + epsilon)         DeepSeekMath, arXiv 2402.03300
//   mean_only  A_i = r_i - mean                             Dr. GRPO, arXiv 2503.20783
//   batch_std  A_i = (r_i - mean) / (std of all rewards of the batch + epsilon)
//                                                           Lite PPO, arXiv 2508.08221
//   rloo       A_i = r_i - mean of the others
//                  = n / (n - 1) * (r_i - mean)             Back to Basics, arXiv 2402.14740
//   reinforce_baseline  x_i = r_i - mean, A_i = x_i / (std of all x of the batch + epsilon)
//                                                           REINFORCE++, arXiv 2501.03262
//   trloo      rloo over the returns of (prompt, turn)      Dr. Kernel, arXiv 2602.05885
// The x of each group have mean 0, so those of a batch have mean 0 too, and no further mean is
// subtracted.
//
// A group of one has no other outcome to compare with, so A = 0. With Singleton::own_reward A = r
// instead, as Dr. Kernel defines for trloo (a baseline of 0). A group without variance has A = 0
// exactly. Otherwise a rounding error of 1e-17 in the mean, divided by a small epsilon, would
// become large.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "base/enum_names.h"

namespace tritonsmith::algorithm {

enum class AdvantageRule { grpo, mean_only, batch_std, rloo, reinforce_baseline, trloo };

// unbiased divides by n - 1 (TRL, verl), population divides by n (nano-aha). At n = 8 they differ
// by 6.5 %.
enum class Deviation { unbiased, population };

enum class Singleton { zero, own_reward };

struct AdvantageOptions {
  AdvantageRule rule = AdvantageRule::grpo;
  Deviation deviation = Deviation::unbiased;
  double epsilon = 1e-4;
  Singleton singleton = Singleton::zero;
};

using MaybeReward = std::optional<double>;

struct Outcome {
  std::size_t group = 0;  // any number; outcomes with equal numbers form a group
  MaybeReward reward;
};

// Returns one advantage for each outcome of a batch, in the order of the outcomes.
std::vector<double> batch_advantages(std::span<const Outcome> outcomes,
                                     const AdvantageOptions& options);

// The same for a batch of one group.
std::vector<double> group_advantages(std::span<const MaybeReward> rewards,
                                     const AdvantageOptions& options);

// True for fewer than two rewards, or for equal ones. Such a group teaches nothing.
bool is_without_variance(std::span<const MaybeReward> rewards);

// Returns the standard deviation of the rewards that are present, or 0 for fewer than two.
double deviation_of(std::span<const MaybeReward> rewards, Deviation deviation);

}  // namespace tritonsmith::algorithm

namespace tritonsmith {
template <>
inline constexpr auto enum_names<algorithm::AdvantageRule> = names<algorithm::AdvantageRule>(
    {{algorithm::AdvantageRule::grpo, "grpo"},
     {algorithm::AdvantageRule::mean_only, "mean_only"},
     {algorithm::AdvantageRule::batch_std, "batch_std"},
     {algorithm::AdvantageRule::rloo, "rloo"},
     {algorithm::AdvantageRule::reinforce_baseline, "reinforce_baseline"},
     {algorithm::AdvantageRule::trloo, "trloo"}});
template <>
inline constexpr auto enum_names<algorithm::Deviation> =
    names<algorithm::Deviation>({{algorithm::Deviation::unbiased, "unbiased"},
                                 {algorithm::Deviation::population, "population"}});
template <>
inline constexpr auto enum_names<algorithm::Singleton> = names<algorithm::Singleton>(
    {{algorithm::Singleton::zero, "zero"}, {algorithm::Singleton::own_reward, "own_reward"}});
}  // namespace tritonsmith
