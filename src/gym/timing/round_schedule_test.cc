#include "gym/timing/round_schedule.h"

#include <gtest/gtest.h>

#include <vector>

#include "gym/timing/sampling.h"

namespace tritonsmith::gym::timing {
namespace {

int references_of(const RoundSchedule& schedule, ReferenceTime time) {
  int count = 0;
  for (int nth = 0; nth < schedule.fewest; ++nth)
    count += runs_reference(schedule, nth, time) ? 1 : 0;
  return count;
}

TEST(RoundSchedule, TheFirstBatchIsEnoughForAnIntervalOfBothSides) {
  for (const double milliseconds : {0.001, 0.07, 0.499, 0.5, 30.0}) {
    const RoundSchedule schedule = round_schedule(milliseconds);
    const auto rounds = static_cast<std::size_t>(schedule.fewest);
    EXPECT_TRUE(
        median_interval(means_of(std::vector<double>(rounds, 1), schedule.rounds_a_sample)).known);
    EXPECT_EQ(references_of(schedule, ReferenceTime::unknown), schedule.fewest);
    const int confirming = references_of(schedule, ReferenceTime::remembered);
    EXPECT_TRUE(
        median_interval(std::vector<double>(static_cast<std::size_t>(confirming), 1)).known);
    EXPECT_LE(schedule.fewest, kLargestBatch);
    EXPECT_LE(schedule.batch, kLargestBatch);
  }
}

// If a batch ended within a sample, the sample would pair rounds that are not consecutive.
TEST(RoundSchedule, BatchesHoldWholeSamples) {
  for (const double milliseconds : {0.07, 30.0}) {
    const RoundSchedule schedule = round_schedule(milliseconds);
    EXPECT_EQ(schedule.fewest % schedule.rounds_a_sample, 0);
    EXPECT_EQ(schedule.batch % schedule.rounds_a_sample, 0);
  }
  EXPECT_EQ(round_schedule(0.07).rounds_a_sample, 2);
  EXPECT_EQ(round_schedule(0.07).fewest, 48);
  EXPECT_EQ(round_schedule(3).fewest, 6);
}

TEST(RoundSchedule, AKnownReferenceRunsNowAndThenAndAnUnconfirmedOneBeyondTheFirstBatchAlways) {
  const RoundSchedule schedule = round_schedule(0.07);
  EXPECT_EQ(references_of(schedule, ReferenceTime::known), 8);
  EXPECT_TRUE(runs_reference(schedule, schedule.fewest + 1, ReferenceTime::remembered));
  EXPECT_FALSE(runs_reference(schedule, 1, ReferenceTime::remembered));
}

TEST(RoundSchedule, TheCacheIsFilledTwice) {
  EXPECT_EQ(flush_bytes(63 << 20), 126 << 20);
  EXPECT_GT(flush_bytes(0), 0) << "a device that does not say";
}

TEST(RoundSchedule, BuffersAlternateWhereTheirPoisonIsWorthAFlush) {
  constexpr std::int64_t cache = 63 << 20;
  EXPECT_TRUE(alternates_buffers(128 << 20, cache));
  EXPECT_TRUE(alternates_buffers(32 << 20, cache));
  EXPECT_FALSE(alternates_buffers(0, cache)) << "an operator's own output";
  EXPECT_FALSE(alternates_buffers(1 << 20, cache));
  EXPECT_FALSE(alternates_buffers(std::int64_t{6} << 30, cache));
}

}  // namespace
}  // namespace tritonsmith::gym::timing
