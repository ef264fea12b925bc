#include "gym/timing/sampling.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

namespace tritonsmith::gym::timing {
namespace {

TEST(MedianClocks, AreTakenOfEachClockByItself) {
  EXPECT_FALSE(median_clocks({}));
  EXPECT_EQ(median_clocks({{1980, 3201}, {1200, 3201}, {1965, 2619}}), (Clocks{1965, 3201}));
}

TEST(MedianInterval, IsUnknownOfAFewSamples) {
  EXPECT_FALSE(median_interval({}).known);
  EXPECT_FALSE(median_interval({1, 2, 3}).known);
  EXPECT_FALSE(median_interval({1, 1, 1}).within(0.01));
}

// Conover's table and others agree: 6 samples give the extremes, 20 give the 6th and the 15th.
TEST(MedianInterval, TakesTheRanksOfTheBinomialDistribution) {
  for (const auto& [count, low] : {std::pair{6, 1}, {8, 1}, {9, 2}, {20, 6}, {30, 10}, {100, 40}}) {
    std::vector<double> samples;
    for (int k = 1; k <= count; ++k) samples.push_back(k);
    const MedianInterval interval = median_interval(samples);
    EXPECT_EQ(interval.low, low) << count;
    EXPECT_EQ(interval.high, count + 1 - low) << count;
  }
  EXPECT_FALSE(median_interval({1, 2, 3, 4, 5}).known);
}

TEST(MedianInterval, HoldsTheTrueMedianNineteenTimesInTwenty) {
  std::mt19937_64 random(7);
  std::lognormal_distribution<double> skewed(0, 0.5);  // its median is 1
  constexpr int repeats = 2000;
  int held = 0;
  for (int k = 0; k < repeats; ++k) {
    std::vector<double> samples(30);
    std::ranges::generate(samples, [&] { return skewed(random); });
    const MedianInterval interval = median_interval(samples);
    if (interval.low <= 1 && 1 <= interval.high) ++held;
  }
  EXPECT_GT(held, repeats * 94 / 100);
  EXPECT_LT(held, repeats);
}

TEST(MedianInterval, IsTightWhenSamplesAgreeAndNotWhenTheyDoNot) {
  std::vector<double> close(20, 100.0), wide(20, 100.0);
  for (std::size_t k = 0; k < 20; ++k) {
    close[k] += 0.02 * static_cast<double>(k);
    wide[k] += 2.0 * static_cast<double>(k);
  }
  EXPECT_TRUE(median_interval(close).within(0.01));
  EXPECT_FALSE(median_interval(wide).within(0.01));
}

TEST(TimingOf, GivesMedianMeanAndTails) {
  const Timing timing = timing_of({5, 1, 2, 3, 4});
  EXPECT_EQ(timing.median, 3);
  EXPECT_EQ(timing.mean, 3);
  EXPECT_NEAR(timing.p10, 1.4, 1e-12);
  EXPECT_NEAR(timing.p90, 4.6, 1e-12);
  EXPECT_EQ(timing.n, 5);
  EXPECT_EQ(timing.median_high, 0) << "five samples have no interval";
  const Timing nine = timing_of({9, 8, 7, 6, 5, 4, 3, 2, 1});
  EXPECT_EQ(nine.median_low, 2);
  EXPECT_EQ(nine.median_high, 8);
  EXPECT_EQ(timing_of({1, 2}).median, 1.5);
}

TEST(Confirms, WantsEarlierSamplesThatAreKnownWellAndTodaysNearThem) {
  const std::vector<double> earlier(40, 2.0), few(3, 2.0);
  EXPECT_TRUE(confirms(std::vector<double>(10, 2.01), earlier, 0.01));
  EXPECT_FALSE(confirms(std::vector<double>(10, 2.03), earlier, 0.01));
  EXPECT_FALSE(confirms(few, earlier, 0.01)) << "today is not known yet";
  std::vector<double> wide(10, 1.9);
  std::fill_n(wide.begin(), 5, 2.15);
  EXPECT_TRUE(confirms(wide, earlier, 0.01)) << "as far as ten rounds can tell";
  EXPECT_FALSE(confirms(earlier, few, 0.01)) << "nor was it then";
  EXPECT_FALSE(confirms(earlier, {}, 0.01));
}

TEST(Sampling, MeansOfRoundsThatFollowedEachOther) {
  EXPECT_EQ(means_of({1, 2, 6, 10, 11, 12, 5}, 3), (std::vector<double>{3, 11}));
  EXPECT_EQ(means_of({1, 2}, 3), std::vector<double>{});
  EXPECT_EQ(means_of({4, 2}, 1), (std::vector<double>{4, 2}));
}

TEST(Sampling, FewRoundsAreTheirOwnSamples) {
  const std::vector<double> eleven(11, 3.0), twelve(12, 3.0);
  EXPECT_EQ(samples_of(eleven, 2), eleven);
  EXPECT_EQ(samples_of(twelve, 2).size(), 6U);
  EXPECT_EQ(samples_of(twelve, 1), twelve);
}

// Imitates a memory-bound kernel on an H200: its times form two groups 2.4 % apart, and three
// rounds of four switch to the other group.
std::vector<double> alternating_rounds(std::mt19937_64& random, std::size_t count) {
  std::uniform_real_distribution<double> chance(0, 1);
  std::normal_distribution<double> within(0, 0.004);
  bool is_high = chance(random) < 0.5;
  std::vector<double> rounds;
  while (rounds.size() < count) {
    rounds.push_back((is_high ? 1.012 : 0.988) + within(random));
    if (chance(random) < 0.75) is_high = !is_high;
  }
  return rounds;
}

TEST(Sampling, MediansOfPairsRepeatWhereRoundsAlternate) {
  std::mt19937_64 random(5);
  constexpr int judgements = 400;
  double scatter = 0, scatter_of_pairs = 0;
  int held = 0;
  for (int k = 0; k < judgements; ++k) {
    const std::vector<double> rounds = alternating_rounds(random, 48);
    const MedianInterval single = median_interval(rounds);
    const MedianInterval pairs = median_interval(samples_of(rounds, 2));
    scatter += std::abs(single.median - 1);
    scatter_of_pairs += std::abs(pairs.median - 1);
    if (pairs.low <= 1 && 1 <= pairs.high) ++held;
  }
  EXPECT_LT(scatter_of_pairs, 0.5 * scatter);
  EXPECT_GT(held, judgements * 94 / 100);
}

}  // namespace
}  // namespace tritonsmith::gym::timing
