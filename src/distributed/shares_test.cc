#include "distributed/shares.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <numeric>

namespace tritonsmith::distributed {
namespace {

TEST(Shares, AloneAreTheMembersThemselves) {
  const std::vector<std::size_t> members = {4, 2, 9};
  const std::vector<std::int64_t> costs = {1, 7, 3};
  EXPECT_EQ(share_of(members, costs, 0, 1), members);
}

TEST(Shares, AreEvenAndKeepTheOrder) {
  const std::vector<std::size_t> members = {10, 11, 12, 13, 14};
  const std::vector<std::int64_t> costs = {5, 1, 4, 1, 1};
  EXPECT_EQ(share_of(members, costs, 0, 2), (std::vector<std::size_t>{10, 13}));
  EXPECT_EQ(share_of(members, costs, 1, 2), (std::vector<std::size_t>{11, 12, 14}));
}

RC_GTEST_PROP(Shares, GiveEveryMemberToOneRank, ()) {
  const auto costs = *rc::gen::container<std::vector<std::int64_t>>(rc::gen::inRange(1, 1000));
  const int size = *rc::gen::inRange(1, 9);
  std::vector<std::size_t> members(costs.size()), dealt;
  std::iota(members.begin(), members.end(), std::size_t{100});
  std::vector<std::int64_t> loads;
  for (int rank = 0; rank < size; ++rank) {
    std::int64_t load = 0;
    for (const std::size_t member : share_of(members, costs, rank, size)) {
      dealt.push_back(member);
      load += costs[member - 100];
    }
    loads.push_back(load);
  }
  std::ranges::sort(dealt);
  RC_ASSERT(dealt == members);
  if (costs.empty()) return;
  // The sequence assigned last went to the least loaded rank.
  RC_ASSERT(std::ranges::max(loads) - std::ranges::min(loads) <= std::ranges::max(costs));
}

RC_GTEST_PROP(Shares, CutNumbersIntoRangesThatFollowEachOther, ()) {
  const auto count = *rc::gen::inRange<std::size_t>(0, 500);
  const int size = *rc::gen::inRange(1, 20);
  std::size_t next = 0;
  for (int rank = 0; rank < size; ++rank) {
    const Range range = range_of(count, rank, size);
    RC_ASSERT(range.begin == next);
    RC_ASSERT(range.end - range.begin <= count / static_cast<std::size_t>(size) + 1);
    next = range.end;
  }
  RC_ASSERT(next == count);
}

}  // namespace
}  // namespace tritonsmith::distributed
