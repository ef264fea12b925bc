#include "gym/referee/sampling.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace tritonsmith::gym {
namespace {

TEST(MedianInterval, IsUnknownOfAFewSamples) {
  EXPECT_FALSE(median_interval({}).known);
  EXPECT_FALSE(median_interval({1, 2, 3}).known);
  EXPECT_FALSE(median_interval({1, 1, 1}).within(0.01));
}

// The table of Conover, and of others: 6 samples give the extremes, 20 the 6th and the 15th.
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

}  // namespace
}  // namespace tritonsmith::gym
