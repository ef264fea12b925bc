#include "algorithm/advantage.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "algorithm/aggregation.h"
#include "algorithm/returns.h"

namespace tritonsmith::algorithm {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;

std::vector<double> advantages(std::vector<MaybeReward> rewards, AdvantageOptions options) {
  return group_advantages(rewards, options);
}

TEST(Advantage, OfGrpoIsTheGroupZScore) {
  // Rewards 0 0 0 1: mean 1/4, squares 3/4; unbiased std = sqrt(3/4 / 3) = 1/2, population
  // sqrt(3/16).
  const auto unbiased = advantages({0, 0, 0, 1}, {.epsilon = 0});
  EXPECT_DOUBLE_EQ(unbiased[0], -0.5);
  EXPECT_DOUBLE_EQ(unbiased[3], 1.5);
  const auto population =
      advantages({0, 0, 0, 1}, {.deviation = Deviation::population, .epsilon = 0});
  EXPECT_DOUBLE_EQ(population[3], 0.75 / std::sqrt(3.0 / 16));
}

TEST(Advantage, OfGrpoAddsEpsilonToTheDeviation) {
  EXPECT_DOUBLE_EQ(advantages({0, 0, 0, 1}, {.epsilon = 0.25})[3], 0.75 / 0.75);
}

TEST(Advantage, OfMeanOnlyIsTheDifference) {
  EXPECT_THAT(advantages({1, 2, 6}, {.rule = AdvantageRule::mean_only}), ElementsAre(-2, -1, 3));
}

TEST(Advantage, OfRlooLeavesTheSampleOutOfItsOwnBaseline) {
  // 6 - (1 + 2) / 2 = 4.5, 1 - (2 + 6) / 2 = -3.
  EXPECT_THAT(advantages({1, 2, 6}, {.rule = AdvantageRule::rloo}), ElementsAre(-3, -1.5, 4.5));
}

class EveryRule : public ::testing::TestWithParam<AdvantageRule> {};
INSTANTIATE_TEST_SUITE_P(Advantage, EveryRule,
                         ::testing::Values(AdvantageRule::grpo, AdvantageRule::mean_only,
                                           AdvantageRule::batch_std, AdvantageRule::rloo,
                                           AdvantageRule::reinforce_baseline,
                                           AdvantageRule::trloo));

TEST_P(EveryRule, GivesZeroToASingleton) {
  EXPECT_THAT(advantages({0.7}, {.rule = GetParam()}), ElementsAre(0));
}

TEST_P(EveryRule, GivesExactlyZeroWithoutVariance) {
  // The mean of three times 0.1 is not 0.1 in doubles.
  EXPECT_THAT(advantages({0.1, 0.1, 0.1}, {.rule = GetParam(), .epsilon = 0}), Each(0.0));
}

TEST_P(EveryRule, LeavesSamplesWithoutARewardOut) {
  const auto with = advantages({1, std::nullopt, 3}, {.rule = GetParam()});
  const auto without = advantages({1, 3}, {.rule = GetParam()});
  EXPECT_THAT(with, ElementsAre(without[0], 0, without[1]));
  EXPECT_THAT(advantages({std::nullopt, 3}, {.rule = GetParam()}), Each(0.0));
  EXPECT_THAT(advantages({std::nullopt}, {.rule = GetParam()}), Each(0.0));
}

TEST_P(EveryRule, SumsToZero) {
  double sum = 0;
  for (const double a : advantages({0.3, 1, 0.2, 0.9, 0.3}, {.rule = GetParam()})) sum += a;
  EXPECT_NEAR(sum, 0, 1e-12);
}

// Two groups: rewards 0 2 and 3 3 9; means 1 and 5.
const std::vector<Outcome> kTwoGroups = {{7, 0.0}, {4, 3.0}, {7, 2.0}, {4, 3.0}, {4, 9.0}};

TEST(Advantage, ComparesWithinEachGroup) {
  EXPECT_THAT(batch_advantages(kTwoGroups, {.rule = AdvantageRule::mean_only}),
              ElementsAre(-1, -2, 1, -2, 4));
}

TEST(Advantage, OfBatchStdDividesByTheDeviationOfAllRewards) {
  // 0 2 3 3 9: mean 3.4, squares 11.56 + 1.96 + 0.16 + 0.16 + 31.36 = 45.2, unbiased /4 = 11.3.
  const double deviation = std::sqrt(11.3);
  const auto values =
      batch_advantages(kTwoGroups, {.rule = AdvantageRule::batch_std, .epsilon = 0});
  EXPECT_NEAR(values[0], -1 / deviation, 1e-12);
  EXPECT_NEAR(values[4], 4 / deviation, 1e-12);
}

TEST(Advantage, OfReinforceBaselineDividesByTheDeviationOfAllDifferences) {
  // Differences -1 1 -2 -2 4: mean 0, squares 26, unbiased 26 / 4.
  const double deviation = std::sqrt(6.5);
  const auto values =
      batch_advantages(kTwoGroups, {.rule = AdvantageRule::reinforce_baseline, .epsilon = 0});
  EXPECT_NEAR(values[0], -1 / deviation, 1e-12);
  EXPECT_NEAR(values[4], 4 / deviation, 1e-12);
}

TEST(Advantage, OfTrlooLeavesOutOverThoseThatCount) {
  // Group 4 loses a member: 9 against 3 alone.
  std::vector<Outcome> outcomes = kTwoGroups;
  outcomes[1].reward = std::nullopt;
  EXPECT_THAT(batch_advantages(outcomes, {.rule = AdvantageRule::trloo}),
              ElementsAre(-2, 0, 2, -6, 6));
}

TEST(Advantage, OfASingletonMayBeItsOwnReward) {
  const AdvantageOptions options{.rule = AdvantageRule::trloo, .singleton = Singleton::own_reward};
  EXPECT_THAT(advantages({0.7}, options), ElementsAre(0.7));
  EXPECT_THAT(advantages({std::nullopt, 0.7}, options), ElementsAre(0, 0.7));
  EXPECT_THAT(advantages({0.7, 0.7}, options), Each(0.0));
}

TEST(Returns, AddWhatLaterTurnsEarn) {
  EXPECT_THAT(discounted_returns(std::vector<MaybeReward>{1, 0, 2}, 1), ElementsAre(3, 2, 2));
  EXPECT_THAT(discounted_returns(std::vector<MaybeReward>{1, 0, 2}, 0.5), ElementsAre(1.5, 1, 2));
  EXPECT_THAT(discounted_returns(std::vector<MaybeReward>{1, 0, 2}, 0), ElementsAre(1, 0, 2));
}

TEST(Returns, AreUnknownBeforeATurnWithoutReward) {
  const std::vector<MaybeReward> rewards = {1, std::nullopt, 2};
  EXPECT_THAT(discounted_returns(rewards, 1), ElementsAre(std::nullopt, std::nullopt, 2));
  EXPECT_THAT(discounted_returns(rewards, 0), ElementsAre(1, std::nullopt, 2));
}

TEST(Advantage, OverTurnsIsTheWorkedExampleOfTrloo) {
  // Two samples of one prompt, two turns, discount 1. Rewards 0, 1 and 1, 1: returns 1, 1 and 2, 1.
  // Turn 1: 1 against 2, turn 2: 1 against 1.
  const auto first = discounted_returns(std::vector<MaybeReward>{0, 1}, 1);
  const auto second = discounted_returns(std::vector<MaybeReward>{1, 1}, 1);
  const std::vector<Outcome> outcomes = {
      {0, first[0]}, {1, first[1]}, {0, second[0]}, {1, second[1]}};
  EXPECT_THAT(batch_advantages(outcomes, {.rule = AdvantageRule::trloo}), ElementsAre(-1, 0, 1, 0));
}

TEST(Aggregation, DividesByWhatItsNameSays) {
  const std::vector<std::int64_t> lengths = {2, 0, 6};
  const auto weights = [&](Aggregation aggregation, AggregationScope scope = {}) {
    return token_weights(lengths, aggregation, scope);
  };
  EXPECT_THAT(weights(Aggregation::token_mean), ElementsAre(1. / 8, 0, 1. / 8));
  EXPECT_THAT(weights(Aggregation::step_token_mean, {.step_tokens = 20, .updates = 2}),
              ElementsAre(1. / 10, 0, 1. / 10));
  EXPECT_THAT(weights(Aggregation::sequence_mean), ElementsAre(1. / 4, 0, 1. / 12));
  EXPECT_THAT(weights(Aggregation::fixed_length, {.horizon = 10}),
              ElementsAre(1. / 20, 0, 1. / 20));
  EXPECT_THAT(weights(Aggregation::fixed_total, {.horizon = 10}), ElementsAre(1. / 30, 0, 1. / 30));
}

}  // namespace
}  // namespace tritonsmith::algorithm
