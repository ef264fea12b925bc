#include <gtest/gtest.h>

#include <cmath>

#include "gym/device/testing/gpu_fixture.h"
#include "gym/referee/calibrate.h"

namespace tritonsmith::gym::referee {
namespace {

using CalibrateTest = device::CudaDeviceTest;

// If a sound GPU seemed to drift, it would go into quarantine.
TEST_F(CalibrateTest, GivesNearlyTheSameTimesEachTime) {
  const auto first = calibrate(*device::test_gpu());
  ASSERT_TRUE(first) << first.error().message;
  for (int repeat = 0; repeat < 3; ++repeat) {
    const auto again = calibrate(*device::test_gpu());
    ASSERT_TRUE(again) << again.error().message;
    EXPECT_LT(std::abs(drift_between(*first, *again)), 0.03)
        << again->compute_ms << " and " << again->memory_ms << " ms, at first " << first->compute_ms
        << " and " << first->memory_ms << " ms";
  }
}

TEST(Calibrate, HasNothingToMeasureOnACpu) {
  Equipment equipment(nullptr);
  EXPECT_FALSE(calibrate(equipment));
}

}  // namespace
}  // namespace tritonsmith::gym::referee
