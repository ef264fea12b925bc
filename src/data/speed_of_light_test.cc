#include "data/speed_of_light.h"

#include <gtest/gtest.h>

namespace tritonsmith {
namespace {

const Ceilings kMeasured{.gpu = "NVIDIA H100",
                         .date = "2026-11-25",
                         .bytes_per_second = 3e12,
                         .flops_per_second = {{"bfloat16", 600e12}, {"float32", 300e12}},
                         .launch_us = 2};

TEST(SpeedOfLight, IsBoundByWhatTakesTheLongest) {
  const SpeedOfLight copy = speed_of_light({.bytes = 3e9}, kMeasured, 2);
  EXPECT_EQ(copy.bound, Bound::memory);
  EXPECT_DOUBLE_EQ(copy.ms, 1);
  EXPECT_DOUBLE_EQ(copy.share, 0.5);
  const SpeedOfLight product = speed_of_light(
      {.bytes = 3e6, .flops = {{"bfloat16", 6e12}, {"float32", 3e12}}}, kMeasured, 40);
  EXPECT_EQ(product.bound, Bound::compute);
  EXPECT_DOUBLE_EQ(product.ms, 20);
  EXPECT_DOUBLE_EQ(product.flops, 9e12);
  const SpeedOfLight small = speed_of_light({.bytes = 3e3}, kMeasured, 0.004);
  EXPECT_EQ(small.bound, Bound::launch);
  EXPECT_DOUBLE_EQ(small.share, 0.5);
}

TEST(SpeedOfLight, CountsNoTypeThatWasNotMeasured) {
  EXPECT_EQ(speed_of_light({.bytes = 3e9, .flops = {{"float64", 1e20}}}, kMeasured, 1).bound,
            Bound::memory);
}

TEST(SpeedOfLight, IsSaidInWords) {
  EXPECT_EQ(words_for(speed_of_light({.bytes = 3e9}, kMeasured, 2)),
            "50 % of the speed of light: 1.0000 ms to move 3000 MB");
  EXPECT_EQ(words_for(speed_of_light({.flops = {{"float32", 3e9}}}, kMeasured, 0.1)),
            "10 % of the speed of light: 0.0100 ms for 3 GFLOP");
  EXPECT_EQ(words_for(speed_of_light({}, kMeasured, 0.004)),
            "50 % of the speed of light: 0.0020 ms to launch one kernel");
}

TEST(SpeedOfLight, SurvivesJson) {
  const SpeedOfLight light = speed_of_light({.bytes = 3e9}, kMeasured, 2);
  EXPECT_EQ(speed_of_light_from_json(to_json(light)).value(), light);
  EXPECT_EQ(ceilings_from_json(to_json(kMeasured)).value(), kMeasured);
  const UnavoidableWork work{.bytes = 7, .flops = {{"float32", 5}}};
  EXPECT_EQ(work_from_json(to_json(work)).value(), work);
  EXPECT_FALSE(ceilings_from_json(Json::object()));
}

TEST(SpeedOfLight, CeilingsThatAreNoRatesAreRefused) {
  for (const char* member : {"bytes_per_second", "launch_us"})
    for (const double value : {0.0, -3e12}) {
      Json json = to_json(kMeasured);
      json[member] = value;
      EXPECT_FALSE(ceilings_from_json(json)) << member << " " << value;
    }
  Json json = to_json(kMeasured);
  json["flops_per_second"]["float32"] = 0;
  EXPECT_FALSE(ceilings_from_json(json));
}

}  // namespace
}  // namespace tritonsmith
