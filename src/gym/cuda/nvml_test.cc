#include "gym/cuda/nvml.h"

#include <gtest/gtest.h>

namespace tritonsmith::gym::cuda {
namespace {

// NVML's functions are plain, so all tests share this answer.
int& clock_code() {
  static int code = 0;
  return code;
}

Nvml fake_nvml() {
  clock_code() = 0;
  return {.init = [] { return 0; },
          .device_by_bus_id =
              [](const char* bus_id, Nvml::Device*) {
                constexpr int not_found = 6;
                return std::string(bus_id) == "0000:1b:00.0" ? 0 : not_found;
              },
          .clock_info =
              [](Nvml::Device, int clock, unsigned* mhz) {
                *mhz = clock == Nvml::kMultiprocessorClock ? 1980 : 3201;
                return clock_code();
              }};
}

TEST(ClockMeter, ReadsBothClocksOfTheGpuAtItsAddress) {
  const auto meter = ClockMeter::open(fake_nvml(), "0000:1b:00");
  ASSERT_TRUE(meter) << meter.error().message;
  EXPECT_EQ(meter->now(), (Clocks{.sm_mhz = 1980, .memory_mhz = 3201}));
  const auto elsewhere = ClockMeter::open(fake_nvml(), "0000:2c:00");
  ASSERT_FALSE(elsewhere);
  EXPECT_NE(elsewhere.error().message.find("0000:2c:00"), std::string::npos);
}

TEST(ClockMeter, IsNotOpenedWhereTheDriverTellsNoClocks) {
  const Nvml nvml = fake_nvml();
  constexpr int not_supported = 3;
  clock_code() = not_supported;
  EXPECT_FALSE(ClockMeter::open(nvml, "0000:1b:00"));
}

TEST(ClockMeter, ReadsNothingOnceTheDriverFails) {
  const auto meter = ClockMeter::open(fake_nvml(), "0000:1b:00");
  ASSERT_TRUE(meter) << meter.error().message;
  clock_code() = Nvml::kGpuIsLost;
  EXPECT_FALSE(meter->now());
}

}  // namespace
}  // namespace tritonsmith::gym::cuda
