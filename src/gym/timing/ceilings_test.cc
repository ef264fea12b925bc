#include "gym/timing/ceilings.h"

#include <gtest/gtest.h>

namespace tritonsmith::gym::timing {
namespace {

// A GPU of known rates. Every second run is disturbed and takes twice as long. After `works` runs it
// fails.
class FakeMeter : public RateMeter {
 public:
  Result<double> seconds_to_copy(double bytes) override { return disturbed(2 * bytes / 3e12); }
  Result<double> seconds_to_multiply(plan::DType type, int side) override {
    const double rate = type == plan::DType::float32 ? 300e12 : 600e12;
    return disturbed(2.0 * side * side * side / rate);
  }
  Result<double> seconds_to_launch() override { return disturbed(2e-6); }
  double slowness = 1;
  int works = 1000;

 private:
  Result<double> disturbed(double seconds) {
    if (++runs_ > works) return fail("out of memory");
    return slowness * seconds * (runs_ % 2 == 0 ? 1 : 2);
  }
  int runs_ = 0;
};

TEST(MeasuredCeilings, AreTheBestOfSeveralRuns) {
  FakeMeter meter;
  const auto ceilings = measure_ceilings(meter, "NVIDIA H100");
  ASSERT_TRUE(ceilings);
  EXPECT_EQ(ceilings->gpu, "NVIDIA H100");
  EXPECT_FALSE(ceilings->date.empty());
  EXPECT_NEAR(ceilings->bytes_per_second, 3e12, 1e3);
  EXPECT_NEAR(ceilings->flops_per_second.at("bfloat16"), 600e12, 1e6);
  EXPECT_NEAR(ceilings->flops_per_second.at("float16"), 600e12, 1e6);
  EXPECT_NEAR(ceilings->flops_per_second.at("float32"), 300e12, 1e6);
  EXPECT_NEAR(ceilings->launch_us, 2, 1e-9);
}

TEST(MeasuredCeilings, FailWhereNothingTakesTime) {
  FakeMeter meter;
  meter.slowness = 0;
  EXPECT_FALSE(measure_ceilings(meter, "a clock that stands still"));
}

TEST(MeasuredCeilings, FailWhereOneRunFails) {
  FakeMeter meter;
  meter.works = 20;
  const auto ceilings = measure_ceilings(meter, "a busy GPU");
  ASSERT_FALSE(ceilings);
  EXPECT_EQ(ceilings.error().message, "out of memory");
}

}  // namespace
}  // namespace tritonsmith::gym::timing
