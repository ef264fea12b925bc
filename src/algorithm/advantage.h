// Advantages: how much better each outcome (a sample, or one turn of it) did than those it is
// compared with. Pure functions on rewards; nothing here may fail. An outcome without a reward (the
// gym failed, or a filter rejected it) takes no part: it counts in no mean, and its advantage is 0.
//
// Outcomes are compared within groups: all samples of a prompt, in many turns all samples' turns of
// the same number. With r_1..r_n the rewards of a group (in many turns: returns, see returns.h):
//   grpo       A_i = (r_i - mean) / (std + epsilon)         DeepSeekMath, arXiv 2402.03300
//   mean_only  A_i = r_i - mean                             Dr. GRPO, arXiv 2503.20783
//   batch_std  A_i = (r_i - mean) / (std of all rewards of the batch + epsilon)
//                                                           Lite PPO, arXiv 2508.08221
//   rloo       A_i = r_i - mean of the others
//                  = n / (n - 1) * (r_i - mean)             Back to Basics, arXiv 2402.14740
//   reinforce_baseline  x_i = r_i - mean, A_i = x_i / (std of all x of the batch + epsilon)
//                                                           REINFORCE++, arXiv 2501.03262
//   trloo      rloo over the returns of (prompt, turn)      Dr. Kernel, arXiv 2602.05885
// The x of a batch have mean 0 already, as those of each group have, so nothing else is subtracted.
//
// A group of one has nothing to be compared with: A = 0, or with Singleton::own_reward A = r (what
// Dr. Kernel defines for trloo: a baseline of 0). A group without variance has A = 0 exactly (also
// where rounding of the mean would leave 1e-17, which dividing by a small epsilon would blow up).
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "base/enum_names.h"

namespace tritonsmith::algorithm {

enum class AdvantageRule { grpo, mean_only, batch_std, rloo, reinforce_baseline, trloo };

// unbiased divides by n - 1 (TRL, verl), population by n (nano-aha); at n = 8 they differ by 6.5 %.
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
  std::size_t group = 0;  // any number; equal ones are compared with each other
  MaybeReward reward;
};

// One advantage for each outcome of a batch, in their order.
std::vector<double> batch_advantages(std::span<const Outcome> outcomes,
                                     const AdvantageOptions& options);

// The same where the batch is one group.
std::vector<double> group_advantages(std::span<const MaybeReward> rewards,
                                     const AdvantageOptions& options);

// Fewer than two rewards, or all equal: such a group teaches nothing.
bool is_without_variance(std::span<const MaybeReward> rewards);

// Over the rewards that are there; 0 with fewer than two.
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
