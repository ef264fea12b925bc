#include "gym/timing/round_plan.h"

#include <gtest/gtest.h>

#include <vector>

#include "gym/timing/sampling.h"

namespace tritonsmith::gym::timing {
namespace {

int references_of(const RoundPlan& plan, ReferenceTime time) {
  int count = 0;
  for (int nth = 0; nth < plan.fewest; ++nth) count += runs_reference(plan, nth, time) ? 1 : 0;
  return count;
}

TEST(RoundPlan, TheFirstBatchIsEnoughForAnIntervalOfBothSides) {
  for (const double milliseconds : {0.001, 0.07, 0.499, 0.5, 30.0}) {
    const RoundPlan plan = round_plan(milliseconds);
    const auto rounds = static_cast<std::size_t>(plan.fewest);
    EXPECT_TRUE(
        median_interval(means_of(std::vector<double>(rounds, 1), plan.rounds_a_sample)).known);
    EXPECT_EQ(references_of(plan, ReferenceTime::unknown), plan.fewest);
    const int confirming = references_of(plan, ReferenceTime::remembered);
    EXPECT_TRUE(
        median_interval(std::vector<double>(static_cast<std::size_t>(confirming), 1)).known);
    EXPECT_LE(plan.fewest, kLargestBatch);
    EXPECT_LE(plan.batch, kLargestBatch);
  }
}

// If a batch ended within a sample, the sample would pair rounds that are not consecutive.
TEST(RoundPlan, BatchesHoldWholeSamples) {
  for (const double milliseconds : {0.07, 30.0}) {
    const RoundPlan plan = round_plan(milliseconds);
    EXPECT_EQ(plan.fewest % plan.rounds_a_sample, 0);
    EXPECT_EQ(plan.batch % plan.rounds_a_sample, 0);
  }
  EXPECT_EQ(round_plan(0.07).rounds_a_sample, 2);
  EXPECT_EQ(round_plan(0.07).fewest, 48);
  EXPECT_EQ(round_plan(3).fewest, 6);
}

TEST(RoundPlan, AKnownReferenceRunsNowAndThenAndAnUnconfirmedOneBeyondTheFirstBatchAlways) {
  const RoundPlan plan = round_plan(0.07);
  EXPECT_EQ(references_of(plan, ReferenceTime::known), 8);
  EXPECT_TRUE(runs_reference(plan, plan.fewest + 1, ReferenceTime::remembered));
  EXPECT_FALSE(runs_reference(plan, 1, ReferenceTime::remembered));
}

TEST(RoundPlan, TheCacheIsFilledTwice) {
  EXPECT_EQ(flush_bytes(63 << 20), 126 << 20);
  EXPECT_GT(flush_bytes(0), 0) << "a device that does not say";
}

TEST(RoundPlan, BuffersTakeTurnsWhereTheirPoisonIsWorthAFlush) {
  constexpr std::int64_t cache = 63 << 20;
  EXPECT_TRUE(takes_turns(128 << 20, cache));
  EXPECT_TRUE(takes_turns(32 << 20, cache));
  EXPECT_FALSE(takes_turns(0, cache)) << "an operator's own output";
  EXPECT_FALSE(takes_turns(1 << 20, cache));
  EXPECT_FALSE(takes_turns(std::int64_t{6} << 30, cache));
}

}  // namespace
}  // namespace tritonsmith::gym::timing
