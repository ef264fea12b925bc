// Compares our advantages with the definitions of public trainers, transcribed from
//   TRL 1.16    trl/trainer/grpo_trainer.py (scale_rewards), rloo_trainer.py
//   verl 0.10   verl/trainer/ppo/core_algos.py, compute_*_outcome_advantage
//   KernelGYM   the release beside arXiv 2602.05885, its TRLOO
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>

#include "algorithm/advantage.h"

namespace tritonsmith::algorithm {
namespace {

constexpr std::int64_t kPrompts = 5, kSamples = 8;

// Rewards of the kinds that kernels get. Samples of a prompt are side by side: [prompts, samples].
at::Tensor some_rewards() {
  at::manual_seed(5);
  return at::randint(0, 4, {kPrompts, kSamples}, at::kDouble) * 0.1 +
         at::rand({kPrompts, kSamples}, at::kDouble).gt(0.5).to(at::kDouble);
}

std::vector<Outcome> as_outcomes(const at::Tensor& rewards) {
  std::vector<Outcome> outcomes;
  for (std::int64_t i = 0; i < rewards.size(0); ++i)
    for (std::int64_t k = 0; k < rewards.size(1); ++k)
      outcomes.push_back(
          {.group = static_cast<std::size_t>(i), .reward = rewards[i][k].item<double>()});
  return outcomes;
}

void expect_ours(const at::Tensor& theirs, const at::Tensor& rewards,
                 const AdvantageOptions& options) {
  const at::Tensor ours = at::tensor(batch_advantages(as_outcomes(rewards), options), at::kDouble);
  EXPECT_TRUE(at::allclose(ours, theirs.flatten(), 1e-9, 1e-12))
      << (ours - theirs.flatten()).abs().max().item<double>();
}

at::Tensor less_the_mean(const at::Tensor& rewards) { return rewards - rewards.mean(1, true); }

// torch.std as both trainers call it: divided by n - 1.
TEST(PublishedAdvantage, OfGrpoIsTrlsAndVerls) {
  const at::Tensor rewards = some_rewards();
  const at::Tensor deviation = rewards.std(1, /*unbiased=*/true, /*keepdim=*/true);
  for (const double epsilon : {1e-4, 1e-6})  // TRL's and verl's
    expect_ours(less_the_mean(rewards) / (deviation + epsilon), rewards, {.epsilon = epsilon});
}

TEST(PublishedAdvantage, WithoutScaleIsTrlsAndVerls) {
  const at::Tensor rewards = some_rewards();  // scale_rewards = "none", norm_adv_by_std = False
  expect_ours(less_the_mean(rewards), rewards, {.rule = AdvantageRule::mean_only});
}

TEST(PublishedAdvantage, ScaledByTheBatchIsTrls) {
  const at::Tensor rewards = some_rewards();  // scale_rewards = "batch"
  expect_ours(less_the_mean(rewards) / (rewards.std(true) + 1e-4), rewards,
              {.rule = AdvantageRule::batch_std});
}

TEST(PublishedAdvantage, OfRlooIsTrlsAndVerls) {
  const at::Tensor rewards = some_rewards();
  const at::Tensor others = (rewards.sum(1, true) - rewards) / (kSamples - 1);  // TRL
  expect_ours(rewards - others, rewards, {.rule = AdvantageRule::rloo});
  const double factor = static_cast<double>(kSamples) / (kSamples - 1);  // verl
  expect_ours(rewards * factor - rewards.mean(1, true) * factor, rewards,
              {.rule = AdvantageRule::rloo});
}

// KernelGYM's groups are (prompt, turn), over the turns that count. A turn alone in its group keeps
// its return.
TEST(PublishedAdvantage, OfTrlooIsKernelGyms) {
  const at::Tensor returns = some_rewards();
  std::vector<Outcome> outcomes = as_outcomes(returns);
  for (std::int64_t k = 1; k < kSamples; ++k) outcomes[k].reward = std::nullopt;  // first group
  outcomes[kSamples].reward = std::nullopt;                                       // second
  const auto ours = batch_advantages(
      outcomes, {.rule = AdvantageRule::trloo, .singleton = Singleton::own_reward});
  EXPECT_DOUBLE_EQ(ours[0], returns[0][0].item<double>());
  const at::Tensor counting = returns[1].slice(0, 1);
  const at::Tensor theirs = (counting - counting.mean()) * (kSamples - 1.0) / (kSamples - 2.0);
  for (std::int64_t k = 1; k < kSamples; ++k)
    EXPECT_NEAR(ours[kSamples + k], theirs[k - 1].item<double>(), 1e-12);
}

// verl whitens over tokens: (x - mean) / sqrt(variance + 1e-8), with the unbiased variance. With L
// tokens each, n samples have n L - 1 degrees of freedom there and n - 1 here.
TEST(PublishedAdvantage, OfReinforceBaselineDiffersFromVerlsByDegreesOfFreedom) {
  const at::Tensor rewards = some_rewards();
  const double n = kPrompts * kSamples;
  for (const std::int64_t length : {1, 400}) {
    const at::Tensor tokens =
        less_the_mean(rewards).flatten().unsqueeze(1).expand({-1, length});  // [n, L]
    const at::Tensor whitened = (tokens - tokens.mean()) * (tokens.var(true) + 1e-8).rsqrt();
    const double length_ratio = static_cast<double>(length);
    const double factor = std::sqrt((n * length_ratio - 1) / (length_ratio * (n - 1)));
    const at::Tensor ours =
        at::tensor(batch_advantages(as_outcomes(rewards),
                                    {.rule = AdvantageRule::reinforce_baseline, .epsilon = 0}),
                   at::kDouble);
    EXPECT_TRUE(at::allclose(ours * factor, whitened.select(1, 0), 1e-6, 1e-9)) << length;
    EXPECT_LT(factor, 1.02);
  }
}

}  // namespace
}  // namespace tritonsmith::algorithm
