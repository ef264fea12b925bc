#include "data/calibration.h"

#include <gtest/gtest.h>

namespace tritonsmith {
namespace {

TEST(Calibration, SurvivesItsJson) {
  const auto read =
      calibration_from_json(to_json(Calibration{.version = 2, .compute_ms = 1.5, .memory_ms = 2}));
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->version, 2);
  EXPECT_DOUBLE_EQ(read->compute_ms, 1.5);
  EXPECT_DOUBLE_EQ(read->memory_ms, 2);
}

TEST(Calibration, NeedsTimes) {
  EXPECT_FALSE(calibration_from_json(Json{{"version", 1}, {"compute_ms", 0}, {"memory_ms", 1}}));
  EXPECT_FALSE(calibration_from_json(Json{{"version", 1}, {"compute_ms", 1}}));
  EXPECT_FALSE(calibration_from_json(Json("text")));
}

TEST(Calibration, DriftsByTheKernelThatChangedMore) {
  const Calibration first{.version = 1, .compute_ms = 2, .memory_ms = 1};
  EXPECT_DOUBLE_EQ(drift_between(first, first), 0);
  EXPECT_NEAR(drift_between(first, {.version = 1, .compute_ms = 2.02, .memory_ms = 1.05}), 0.05,
              1e-9);
  EXPECT_NEAR(drift_between(first, {.version = 1, .compute_ms = 1.8, .memory_ms = 1.05}), -0.1,
              1e-9);
}

}  // namespace
}  // namespace tritonsmith
