#include "gym/sandbox/python_memory.h"

#include <gtest/gtest.h>

#include <set>
#include <vector>

namespace tritonsmith::gym::sandbox {
namespace {

constexpr std::size_t kSmall = std::size_t{16} << 10, kLarge = std::size_t{1} << 20;

TEST(KeepingAllocator, GivesTheSameBlockAgain) {
  const BlockAllocator memory = keeping_allocator();
  void* small = memory.allocate(memory.context, kSmall);
  void* large = memory.allocate(memory.context, kLarge);
  memory.release(memory.context, small, kSmall);
  memory.release(memory.context, large, kLarge);
  EXPECT_EQ(memory.allocate(memory.context, kSmall), small);
  EXPECT_EQ(memory.allocate(memory.context, kLarge), large);
  memory.release(memory.context, small, kSmall);
  memory.release(memory.context, large, kLarge);
}

TEST(KeepingAllocator, GivesNoBlockTwice) {
  const BlockAllocator memory = keeping_allocator();
  for (int round = 0; round < 2; ++round) {
    std::set<void*> blocks;
    for (int i = 0; i < 40; ++i) {
      auto* block = static_cast<char*>(memory.allocate(memory.context, kSmall));
      ASSERT_NE(block, nullptr);
      block[0] = block[kSmall - 1] = 1;
      EXPECT_TRUE(blocks.insert(block).second);
    }
    for (void* block : blocks) memory.release(memory.context, block, kSmall);
  }
}

TEST(KeepingAllocator, LaysBlocksOfObjectsSideBySide) {
  const BlockAllocator memory = keeping_allocator();
  std::set<char*> blocks;
  for (int i = 0; i < 40; ++i)
    blocks.insert(static_cast<char*>(memory.allocate(memory.context, kLarge)));
  ASSERT_EQ(blocks.size(), 40U);
  int neighbours = 0;
  for (char* block : blocks) {
    block[0] = block[kLarge - 1] = 1;
    neighbours += blocks.contains(block + kLarge) ? 1 : 0;
  }
  EXPECT_GE(neighbours, 36);  // two reserves of 32 blocks, after some that were given back
  for (char* block : blocks) memory.release(memory.context, block, kLarge);
}

}  // namespace
}  // namespace tritonsmith::gym::sandbox
