#include "gym/timing/reference_times.h"

#include <gtest/gtest.h>

namespace tritonsmith::gym::timing {
namespace {

constexpr double kShare = 0.01;

ReferenceTimes times_of(const std::vector<double>* earlier, double now, int rounds) {
  ReferenceTimes times(earlier, kShare);
  for (int k = 0; k < rounds; ++k) times.add(now);
  return times;
}

TEST(ReferenceTimes, AreUnknownUntilThereAreEnoughRounds) {
  EXPECT_FALSE(times_of(nullptr, 1, 3).is_known());
  EXPECT_TRUE(times_of(nullptr, 1, 12).is_known());
  EXPECT_FALSE(times_of(nullptr, 1, 12).is_known_from_earlier());
}

TEST(ReferenceTimes, CountEarlierJobsWhereTheyAgree) {
  const std::vector<double> earlier(20, 1.0);
  EXPECT_TRUE(times_of(&earlier, 1, 0).is_known_from_earlier());
  EXPECT_EQ(times_of(&earlier, 1, 6).reported().size(), 26U);
  EXPECT_EQ(times_of(&earlier, 1, 6).remembered().size(), 26U);
}

TEST(ReferenceTimes, StartAnewWhereEarlierJobsDisagree) {
  const std::vector<double> earlier(20, 1.0);
  EXPECT_EQ(times_of(&earlier, 2, 6).reported(), std::vector<double>(6, 2.0));
  EXPECT_EQ(times_of(&earlier, 2, 6).remembered(), std::vector<double>(6, 2.0));
}

TEST(ReferenceTimes, RememberTheLastRoundsOnly) {
  const std::vector<double> earlier(400, 1.0);
  EXPECT_EQ(times_of(&earlier, 1, 6).remembered().size(), 400U);
}

}  // namespace
}  // namespace tritonsmith::gym::timing
