#include "model/config/sums.h"

#include <gtest/gtest.h>

namespace tritonsmith::model {
namespace {

TEST(SumParts, AreSeveralWhereAWeightIsDeepAndNarrow) {
  EXPECT_EQ(sum_parts(2048, 11008), 4);  // down_proj of Qwen2.5-3B
  EXPECT_EQ(sum_parts(1536, 8960), 4);   // down_proj of Qwen2.5-1.5B
  EXPECT_EQ(sum_parts(4096, 14336), 2);  // down_proj of Llama-3.1-8B
  EXPECT_EQ(sum_parts(4096, 12288), 2);  // down_proj of Qwen3-8B
}

TEST(SumParts, AreOneWhereAWeightIsShallowOrWideOrOfAnOddDepth) {
  EXPECT_EQ(sum_parts(2048, 2048), 1);
  EXPECT_EQ(sum_parts(256, 1024), 1);
  EXPECT_EQ(sum_parts(22016, 2048), 1);
  EXPECT_EQ(sum_parts(151936, 8192), 1);
  EXPECT_EQ(sum_parts(2048, 8192 + 16), 1);
}

TEST(SumParts, AreOfEqualDepthAndNoMoreThanTheMost) {
  for (std::int64_t outputs = 64; outputs <= 8192; outputs += 64)
    for (std::int64_t depth = 64; depth <= 32768; depth += 208) {
      const int parts = sum_parts(outputs, depth);
      ASSERT_TRUE(parts >= 1 && parts <= kMostSumParts);
      ASSERT_EQ(depth % parts, 0);
    }
}

}  // namespace
}  // namespace tritonsmith::model
