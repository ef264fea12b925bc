#include "algorithm/advantage.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "algorithm/aggregation.h"

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
                                           AdvantageRule::rloo));

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

TEST(Aggregation, DividesByWhatItsNameSays) {
  const std::vector<std::int64_t> lengths = {2, 0, 6};
  EXPECT_THAT(token_weights(lengths, Aggregation::token_mean, 0), ElementsAre(1. / 8, 0, 1. / 8));
  EXPECT_THAT(token_weights(lengths, Aggregation::sequence_mean, 0),
              ElementsAre(1. / 4, 0, 1. / 12));
  EXPECT_THAT(token_weights(lengths, Aggregation::fixed_length, 10),
              ElementsAre(1. / 20, 0, 1. / 20));
}

}  // namespace
}  // namespace tritonsmith::algorithm
