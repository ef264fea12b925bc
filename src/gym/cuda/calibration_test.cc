#include "gym/cuda/calibration.h"

#include <gtest/gtest.h>

#include "gym/cuda/device_code.h"
#include "gym/cuda/testing/fake_driver.h"
#include "gym/cuda/testing/nvrtc.h"

namespace tritonsmith::gym::cuda {
namespace {

// The fourth round is the fastest.
int& asked_times() {
  static int count = 0;
  return count;
}

Driver timed_driver() {
  Driver driver = fake_driver();
  asked_times() = 0;
  driver.event_elapsed_time = [](float* milliseconds, CUevent, CUevent) {
    const int round = asked_times()++ / 2;
    const bool is_memory = asked_times() % 2 == 0;
    *milliseconds = (round == 3 ? 1.0F : 1.5F) * (is_memory ? 0.5F : 2.0F);
    return CUDA_SUCCESS;
  };
  return driver;
}

TEST(CalibrationKernels, CompileWithoutAnyGpu) {
  if (kNvrtc.empty()) GTEST_SKIP() << "the pinned environment has no NVRTC";
  for (const std::string_view target : {"sm_80", "sm_90"}) {
    const auto cubin = compile_source(std::string(kNvrtc), target, calibration_source());
    ASSERT_TRUE(cubin) << cubin.error().message;
    for (const std::string_view kernel : {"calibrate_compute", "calibrate_memory"})
      EXPECT_NE(cubin->find(kernel), std::string::npos) << kernel;
  }
}

TEST(CalibrationKernels, ReportTheFastestOfManyRoundsAndGiveTheirMemoryBack) {
  const Driver driver = timed_driver();
  auto kernels = CalibrationKernels::make(driver, "cubin", 132);
  ASSERT_TRUE(kernels) << kernels.error().message;
  const auto calibration = kernels->run(0);
  ASSERT_TRUE(calibration) << calibration.error().message;
  EXPECT_EQ(calibration->version, kCalibrationVersion);
  EXPECT_DOUBLE_EQ(calibration->compute_ms, 2);
  EXPECT_DOUBLE_EQ(calibration->memory_ms, 0.5);
  EXPECT_EQ(fake_notes().launches.size(), 20U) << "ten rounds of two kernels";
  EXPECT_EQ(fake_notes().launches.at(0).config.gridDimX, 8U * 132);
  EXPECT_EQ(fake_notes().allocated, std::vector<std::size_t>{std::size_t{256} << 20});
  EXPECT_EQ(fake_notes().freed, 1);
}

TEST(CalibrationKernels, FailWhenTheGpuStops) {
  const Driver driver = timed_driver();
  auto kernels = CalibrationKernels::make(driver, "cubin", 132);
  fake_notes().launch_result = CUDA_ERROR_ECC_UNCORRECTABLE;
  const auto calibration = kernels->run(0);
  ASSERT_FALSE(calibration);
  EXPECT_NE(calibration.error().message.find("calibration"), std::string::npos);
  EXPECT_EQ(fake_notes().freed, 1);
}

}  // namespace
}  // namespace tritonsmith::gym::cuda
