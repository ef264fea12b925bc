#include <gtest/gtest.h>

#include "gym/cuda/driver.h"
#include "gym/timing/ceilings.h"

namespace tritonsmith::gym::timing {
namespace {

TEST(CeilingsOnGpu, LieBelowTheChipsPeaksAndNotFarBelow) {
  const auto gpus = cuda::list_gpus();
  if (gpus.empty()) GTEST_SKIP() << "no GPU";
  const auto meter = meter_of_gpu(0);
  ASSERT_TRUE(meter) << meter.error().message;
  const auto ceilings = measure_ceilings(**meter, gpus.front().name);
  ASSERT_TRUE(ceilings) << ceilings.error().message;
  if (gpus.front().bytes_per_second > 0) {
    EXPECT_LT(ceilings->bytes_per_second, gpus.front().bytes_per_second);
    EXPECT_GT(ceilings->bytes_per_second, 0.5 * gpus.front().bytes_per_second);
  }
  if (gpus.front().flops_per_second > 0) {
    EXPECT_LT(ceilings->flops_per_second.at("bfloat16"), gpus.front().flops_per_second);
    EXPECT_GT(ceilings->flops_per_second.at("bfloat16"), 0.3 * gpus.front().flops_per_second);
  }
  EXPECT_LT(ceilings->flops_per_second.at("float32"), ceilings->flops_per_second.at("bfloat16"));
  EXPECT_GT(ceilings->launch_us, 0.5);
  EXPECT_LT(ceilings->launch_us, 50);
}

}  // namespace
}  // namespace tritonsmith::gym::timing
