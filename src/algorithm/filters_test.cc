// Filters and weights of training samples: mismatch, PRS, thinking and code, overlong, experts.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "algorithm/expert_set.h"
#include "algorithm/hierarchy.h"
#include "algorithm/mismatch.h"
#include "algorithm/overlong.h"
#include "algorithm/profile_rejection.h"

namespace tritonsmith::algorithm {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::FloatNear;

float log_of(double ratio) { return static_cast<float>(std::log(ratio)); }

// Ratios 1.5, 0.5 and 4, whose product is 3. The sampler's log-probabilities are 0.
const std::vector<float> kTrainer = {log_of(1.5), log_of(0.5), log_of(4)};
const std::vector<float> kSampler = {0, 0, 0};

auto weights(MismatchRule rule, double cap, double floor = 0) {
  return mismatch_weights(kTrainer, kSampler, {.rule = rule, .cap = cap, .floor = floor});
}
auto near(double value) { return FloatNear(static_cast<float>(value), 1e-5F); }

TEST(Mismatch, WeighsTokensUpToTheCap) {
  EXPECT_THAT(weights(MismatchRule::token_truncate, 2), ElementsAre(near(1.5), near(0.5), near(2)));
}

TEST(Mismatch, MasksTokensOutsideTheBand) {
  EXPECT_THAT(weights(MismatchRule::token_mask, 2), ElementsAre(near(1.5), near(0.5), near(0)));
  EXPECT_THAT(weights(MismatchRule::token_mask, 2, 0.6), ElementsAre(near(1.5), near(0), near(0)));
}

TEST(Mismatch, WeighsOrMasksWholeCompletions) {
  EXPECT_THAT(weights(MismatchRule::sequence_truncate, 4), Each(near(3)));
  EXPECT_THAT(weights(MismatchRule::sequence_truncate, 2), Each(near(2)));
  EXPECT_THAT(weights(MismatchRule::sequence_mask, 4), Each(near(3)));
  EXPECT_THAT(weights(MismatchRule::sequence_mask, 2), Each(near(0)));
  EXPECT_THAT(weights(MismatchRule::off, 0), Each(near(1)));
}

TEST(MismatchRejection, KeepsTrajectoriesWithinTheBand) {
  // The geometric mean over two turns: (1.5 * 0.5 * 4 * 1)^(1/4) = 3^(1/4) = 1.316.
  LogRatios turn, other, trajectory;
  turn.add(kTrainer, kSampler);
  const std::vector<float> zero = {0};
  other.add(zero, zero);
  trajectory.add(turn);
  trajectory.add(other);
  EXPECT_NEAR(trajectory.geometric_mean(), std::pow(3.0, 0.25), 1e-6);
  EXPECT_TRUE((MismatchRejection{.band_low = 0.7, .band_high = 1.4}).keeps_trajectory(trajectory));
  EXPECT_FALSE((MismatchRejection{.band_low = 0.7, .band_high = 1.3}).keeps_trajectory(trajectory));
  EXPECT_FALSE((MismatchRejection{.band_low = 1.32, .band_high = 2}).keeps_trajectory(trajectory));
  EXPECT_TRUE(MismatchRejection{}.keeps_trajectory(trajectory));
}

TEST(MismatchRejection, VetoesATurnForOneToken) {
  LogRatios turn;
  turn.add(kTrainer, kSampler);
  EXPECT_TRUE(MismatchRejection{.veto = 0.4}.keeps_turn(turn));
  EXPECT_FALSE(MismatchRejection{.veto = 0.6}.keeps_turn(turn));
  EXPECT_TRUE(MismatchRejection{}.keeps_turn(turn));
}

Verdict accepted_with(std::optional<double> coverage, double speedup = 1) {
  Verdict verdict;
  verdict.accepted = true;
  verdict.coverage = coverage;
  verdict.speedup = speedup;
  return verdict;
}

TEST(ProfileRejection, RampsUpWithCoverage) {
  const ProfileRejection options{.begin = 0.3, .width = 0.1};
  EXPECT_EQ(keep_probability(accepted_with(0.1), options), 0);
  EXPECT_EQ(keep_probability(accepted_with(0.3), options), 0);
  EXPECT_NEAR(keep_probability(accepted_with(0.35), options), 0.5, 1e-12);
  EXPECT_NEAR(keep_probability(accepted_with(0.4), options), 1, 1e-12);
  EXPECT_EQ(keep_probability(accepted_with(0.9), options), 1);
}

TEST(ProfileRejection, KeepsWhatIsWrongOrFastOrNotMeasured) {
  ProfileRejection options;
  EXPECT_EQ(keep_probability(Verdict{.coverage = 0.0}, options), 1);
  EXPECT_EQ(keep_probability(accepted_with(std::nullopt), options), 1);
  EXPECT_EQ(keep_probability(accepted_with(0.1, 2), options), 0);
  options.keep_speedup = 1.5;
  EXPECT_EQ(keep_probability(accepted_with(0.1, 2), options), 1);
}

TEST(ProfileRejection, WithoutARampCutsHard) {
  const ProfileRejection options{.begin = 0.3, .width = 0};
  EXPECT_EQ(keep_probability(accepted_with(0.29), options), 0);
  EXPECT_EQ(keep_probability(accepted_with(0.3), options), 1);
}

TEST(Hierarchy, CreditsTheThinkingUpToItsTokenOffset) {
  Kernel kernel;
  kernel.thinking_tokens = {.begin = 1, .end = 3};  // token 0 is the opening tag
  kernel.code_tokens = {.begin = 5, .end = 7};
  EXPECT_EQ(thinking_length(kernel, 8), 3U);
  EXPECT_THAT(hierarchical_advantages(3, 5, {.thinking = 2, .code = -1}, 0.1),
              ElementsAre(near(0.2), near(0.2), near(0.2), -1, -1));
}

TEST(Hierarchy, WithoutThinkingIsAllCode) {
  EXPECT_EQ(thinking_length(Kernel{}, 8), 0U);
  EXPECT_THAT(hierarchical_advantages(0, 2, {.thinking = 2, .code = -1}, 0.1), Each(-1));
}

TEST(Overlong, PunishesSoftlyNearTheLimit) {
  const auto penalty = [](std::int64_t length) {
    return overlong_penalty(length, FinishReason::stop, 100, 20);
  };
  EXPECT_EQ(penalty(80), 0);
  EXPECT_EQ(penalty(85), -0.25);
  EXPECT_EQ(penalty(100), -1);
  EXPECT_EQ(overlong_penalty(100, FinishReason::length, 100, 20), -1);
}

TEST(ExpertSet, TakesTheBestDistinctSuccessesOfTasksNotYetSolved) {
  const std::vector<Trajectory> all = {
      {"a", "x", 1.0}, {"a", "x", 1.0}, {"a", "y", 0.2}, {"a", "z", 1.5},
      {"a", "w", 1.2}, {"b", "x", 1.0}, {"b", "y", 1.0},  // always solved
      {"c", "x", 0.9},                                    // never solved
  };
  EXPECT_THAT(choose_experts(all, {.reward = 1, .solved = 0.9, .per_task = 2}), ElementsAre(3, 4));
  EXPECT_THAT(choose_experts(all, {.reward = 1, .solved = 0.9, .per_task = 9}),
              ElementsAre(0, 3, 4));
  EXPECT_THAT(choose_experts(all, {.reward = 1, .solved = 1, .per_task = 9}),
              ElementsAre(0, 3, 4, 5, 6));
}

}  // namespace
}  // namespace tritonsmith::algorithm
