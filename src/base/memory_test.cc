#include "base/memory.h"

#include <gtest/gtest.h>

namespace tritonsmith {
namespace {

TEST(Memory, IsWhatTheMachineSaysIsAvailable) {
  EXPECT_EQ(memory_available_in("MemTotal: 9 kB\nMemAvailable:    2048 kB\n"), 2048 * 1024);
  EXPECT_EQ(memory_available_in("MemTotal: 9 kB\n"), 0);
  EXPECT_GT(available_memory_bytes(), 0);
}

TEST(Memory, IsNoMoreThanTheControlGroupLeaves) {
  EXPECT_EQ(memory_left_of("max\n", "5\n", 1000), 1000);
  EXPECT_EQ(memory_left_of("900\n", "500\n", 1000), 400);
  EXPECT_EQ(memory_left_of("900\n", "950\n", 1000), 0);
}

}  // namespace
}  // namespace tritonsmith
