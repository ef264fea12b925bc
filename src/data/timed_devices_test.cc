#include "data/timed_devices.h"

#include <gtest/gtest.h>

namespace tritonsmith {
namespace {

Verdict timed_on(const std::string& gpu) {
  Verdict verdict;
  verdict.environment.gpu = gpu;
  verdict.speedup = 2;
  verdict.time_ms = Timing{.median = 1};
  return verdict;
}

TEST(TimedDevices, NameTheOneThatTimedMostAndCountTheOthers) {
  TimedDevices devices;
  EXPECT_EQ(devices.most(), "");
  EXPECT_EQ(devices.others_than(""), "");
  for (const char* gpu : {"NVIDIA A100", "NVIDIA H200", "NVIDIA H200", ""})
    devices.add(timed_on(gpu));
  EXPECT_EQ(devices.most(), "NVIDIA H200");
  EXPECT_EQ(devices.others_than("NVIDIA H200"), "1 on an unknown device, 1 on NVIDIA A100");
}

TEST(TimedDevices, CountNoVerdictWithoutTimes) {
  TimedDevices devices;
  Verdict evaluated;
  evaluated.environment.gpu = "sm_90 (compiled, not run)";
  devices.add(evaluated);
  EXPECT_EQ(devices.most(), "");
}

TEST(TimedDevices, LeaveNothingOfForgottenTimes) {
  Verdict verdict = timed_on("NVIDIA H200");
  verdict.accepted = true;
  verdict.baselines = {{"eager", Timing{.median = 2}}};
  forget_times(verdict);
  EXPECT_FALSE(is_timed(verdict));
  EXPECT_TRUE(verdict.baselines.empty());
  EXPECT_TRUE(verdict.accepted) << "the kernel is as right as ever";
}

}  // namespace
}  // namespace tritonsmith
