#include "train/packing.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

namespace tritonsmith::train {
namespace {

using ::testing::ElementsAre;

TEST(Packing, FillsEachMicroBatchUpToTheBudget) {
  const std::vector<std::int64_t> lengths = {3, 4, 4, 20, 1, 1};
  EXPECT_THAT(pack_in_order(lengths, 8),
              ElementsAre(ElementsAre(0, 1), ElementsAre(2), ElementsAre(3), ElementsAre(4, 5)));
}

TEST(EpochOrder, VisitsEveryExampleOnceAnEpochInAnotherOrder) {
  EpochOrder order(1, "sft", 50);
  std::vector<std::size_t> first, second;
  for (std::uint64_t place = 0; place < 50; ++place) first.push_back(order.at(place));
  for (std::uint64_t place = 50; place < 100; ++place) second.push_back(order.at(place));
  EXPECT_EQ(std::set<std::size_t>(first.begin(), first.end()).size(), 50U);
  EXPECT_EQ(std::set<std::size_t>(second.begin(), second.end()).size(), 50U);
  EXPECT_NE(first, second);
}

TEST(EpochOrder, IsTheSameWhereverOneStarts) {
  EpochOrder straight(1, "sft", 7), resumed(1, "sft", 7);
  std::vector<std::size_t> all;
  for (std::uint64_t place = 0; place < 30; ++place) all.push_back(straight.at(place));
  EXPECT_EQ(resumed.at(23), all[23]);
  EXPECT_EQ(resumed.at(3), all[3]);
}

}  // namespace
}  // namespace tritonsmith::train
