#include "gym/timing/impossible_speed.h"

#include <gtest/gtest.h>

namespace tritonsmith::gym::timing {
namespace {

TEST(FindImpossibleSpeed, RefusesWhatTheChipCannotDo) {
  const cuda::GpuFacts chip{
      .cache_bytes = 1'000'000, .bytes_per_second = 1e12, .flops_per_second = 1e15};
  const plan::analysis::LeastWork copy{.bytes = 101e6}, product{.bytes = 0, .flops = 2e12};
  EXPECT_FALSE(find_impossible_speed(copy, chip, 0.11));
  EXPECT_EQ(find_impossible_speed(copy, chip, 0.09)->rule, "faster_than_memory");
  EXPECT_FALSE(find_impossible_speed(product, chip, 1.1));
  EXPECT_EQ(find_impossible_speed(product, chip, 0.9)->rule, "faster_than_arithmetic");
  EXPECT_FALSE(find_impossible_speed(product, {}, 0.0)) << "nothing is known of the chip";
}

}  // namespace
}  // namespace tritonsmith::gym::timing
