#include "gym/cuda/device_code.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "gym/compare/tolerance_rules.h"
#include "gym/cuda/testing/nvrtc.h"

namespace tritonsmith::gym::cuda {
namespace {

TEST(DeviceCode, CompilesWithoutAnyGpu) {
  if (kNvrtc.empty()) GTEST_SKIP() << "the pinned environment has no NVRTC";
  const auto cubin = compile_device_source(std::string(kNvrtc), "sm_90");
  ASSERT_TRUE(cubin) << cubin.error().message;
  EXPECT_EQ(cubin->substr(1, 3), "ELF");
  for (const std::string_view kernel : {"fingerprint", "count_changed", "mismatch_bf16"})
    EXPECT_NE(cubin->find(kernel), std::string::npos) << kernel;
}

TEST(DeviceCode, HasItsBudgetFromTheToleranceRules) {
  const std::string rule =
      fmt::format("tolerance * (rms + final_scale * {}) + {} * own_error",
                  compare::kToleranceRules.budget_floor, compare::kToleranceRules.own_error_factor);
  EXPECT_NE(device_source().find(rule), std::string::npos);
}

TEST(DeviceCode, SaysWhatIsWrongWithAnUnknownChip) {
  if (kNvrtc.empty()) GTEST_SKIP() << "the pinned environment has no NVRTC";
  EXPECT_FALSE(compile_device_source(std::string(kNvrtc), "sm_1"));
}

TEST(DeviceCode, SaysSoWhereThereIsNoCompiler) {
  const auto cubin = compile_device_source("libno-such-compiler.so", "sm_90");
  ASSERT_FALSE(cubin);
  EXPECT_NE(cubin.error().message.find("run-time compiler"), std::string::npos);
}

}  // namespace
}  // namespace tritonsmith::gym::cuda
