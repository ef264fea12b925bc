#include "gym/compile/occupancy.h"

#include <gtest/gtest.h>

namespace tritonsmith::gym::compile {
namespace {

double on_h100(int warps, int registers, int shared_bytes = 0) {
  return occupancy({.warps = warps, .registers = registers, .shared_bytes = shared_bytes}, "sm_90");
}

TEST(Occupancy, IsWholeForASmallBlock) { EXPECT_EQ(on_h100(4, 32), 1); }

TEST(Occupancy, FollowsFromRegisters) {
  EXPECT_EQ(on_h100(4, 33), 48.0 / 64);  // 40 registers are handed out: 12 warps of each part
  EXPECT_EQ(on_h100(4, 64), 32.0 / 64);
  EXPECT_EQ(on_h100(8, 255), 8.0 / 64);
  EXPECT_EQ(on_h100(4, 168), 12.0 / 64);
}

TEST(Occupancy, FollowsFromSharedMemory) {
  EXPECT_EQ(on_h100(4, 32, 100 * 1024), 8.0 / 64);  // two blocks, with a KiB of the driver each
  EXPECT_EQ(on_h100(4, 32, 114 * 1024), 4.0 / 64);
  EXPECT_EQ(on_h100(4, 32, 229 * 1024), 0) << "the block does not fit";
}

TEST(Occupancy, FollowsFromTheNumberOfBlocks) {
  EXPECT_EQ(on_h100(1, 16), 32.0 / 64);
  EXPECT_EQ(occupancy({.warps = 1, .registers = 16}, "sm_86"), 16.0 / 48);
}

TEST(Occupancy, IsUnknownForAChipThatIsNotListed) {
  EXPECT_EQ(occupancy({.warps = 4, .registers = 32}, "sm_75"), 0);
}

}  // namespace
}  // namespace tritonsmith::gym::compile
