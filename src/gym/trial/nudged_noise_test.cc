#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "gym/trial/weakness.h"

namespace tritonsmith::gym::trial {
namespace {

// Values near 3, moved as a nudge of the inputs moves them.
std::vector<float> inputs_moved_by(double units) {
  std::mt19937 random(7);
  std::normal_distribution<float> normal(3, 0.01F);
  std::vector<float> values(4096);
  const auto factor = static_cast<float>(1 + units * std::numeric_limits<float>::epsilon());
  for (float& value : values) value = normal(random) * factor;
  return values;
}

// The errors of a computation in float32 on these values, in units of one error in so many.
template <typename Computed, typename Exact>
std::vector<float> errors_moved_by(double units, double one_in, Computed computed, Exact exact) {
  std::vector<float> errors;
  for (const float value : inputs_moved_by(units))
    errors.push_back(static_cast<float>(one_in * (computed(value) - exact(double{value}))));
  return errors;
}

template <typename Computed, typename Exact>
bool is_noise(double one_in, Computed computed, Exact exact) {
  const OutputErrors errors{.errors = errors_moved_by(0, one_in, computed, exact), .values = {}};
  RoundingNoise noise(errors);
  for (const double units : kNudges)
    noise.add({.errors = errors_moved_by(units, one_in, computed, exact), .values = {}});
  return noise.is_shown();
}

// The same of errors before and after a single nudge.
bool is_noise(const std::vector<float>& errors, const std::vector<float>& nudged,
              const std::vector<float>& values = {}, const std::vector<float>& moved = {}) {
  const OutputErrors before{errors, values};
  RoundingNoise noise(before);
  noise.add({nudged, moved});
  return noise.is_shown();
}

double exact_cube(double x) { return x * x * x - 27; }

TEST(NudgedNoise, ADifferenceOfLargeRoundedNumbersIsNoise) {
  EXPECT_TRUE(is_noise(
      1e7, [](float x) { return x * x * x - 27.0F; }, exact_cube));
}

TEST(NudgedNoise, AMissingTermIsNoNoise) {
  EXPECT_FALSE(is_noise(
      1e4, [](float x) { return x * x * x - 27.001F; }, exact_cube));
}

TEST(NudgedNoise, AValueWithFewerDigitsIsNoNoise) {
  for (const float unit : {0x1p-9F, 0x1p-8F, 0x1p-6F}) {  // at 3: TF32, fp16 and bf16 alike
    const auto coarse = [unit](float x) {
      const float rounded = std::round(x / unit) * unit;
      return rounded * rounded * rounded - 27.0F;
    };
    EXPECT_FALSE(is_noise(1e5, coarse, exact_cube)) << unit;
  }
}

TEST(NudgedNoise, ErrorsWithinTheToleranceSayNothing) {
  EXPECT_FALSE(is_noise({0.5F, -0.9F}, {-0.5F, 0.9F}));
  EXPECT_TRUE(is_noise({1.5F, 0.1F}, {-1.5F, 0.1F}));
  EXPECT_FALSE(is_noise({1.5F, 1.6F, 1.7F, 1.8F, 1.9F}, {-1.5F, 1.6F, 1.7F, 1.8F, 1.9F}));
  EXPECT_FALSE(is_noise({9, 1.5F, 1.5F}, {9, -1.5F, -1.5F})) << "the largest stays";
}

TEST(NudgedNoise, ErrorsWhereTheReferenceJumpsSayNothing) {
  const std::vector<float> errors = {9, 9, 9}, halved = {4.5F, 9, 9}, values = {4000, 4000, 10};
  EXPECT_TRUE(is_noise(errors, halved, values, {4000, 4000, 10}));
  EXPECT_TRUE(is_noise(errors, halved, values, {3999, 4002, 10})) << "as far as a nudge moves it";
  EXPECT_FALSE(is_noise(errors, halved, values, {2000, 4000, 10}));
  EXPECT_FALSE(is_noise({9}, {4.5F}, {4000}, {2000})) << "nothing is left that shows noise";
}

TEST(NudgedNoise, ANudgeByElementMovesHalfOfTheElements) {
  for (const at::ScalarType type : {at::kFloat, at::kDouble}) {
    const at::Tensor ones = at::ones({40, 25}, type);
    at::Tensor half = ones.clone(), other_half = ones.clone(), all = ones.clone();
    nudge({.units = 8, .form = NudgeForm::by_element}, half);
    EXPECT_NEAR(half.lt(ones).to(at::kDouble).mean().item<double>(), 0.5, 0.01);
    nudge({.units = -8, .form = NudgeForm::by_element}, other_half);
    EXPECT_TRUE(half.lt(ones).logical_xor(other_half.lt(ones)).all().item<bool>());
    nudge({.units = 8}, all);
    EXPECT_TRUE(at::allclose(half + other_half, 2 * all, 0, 1e-12))
        << "one form moves twice as far";
  }
  at::Tensor whole = at::ones({3}, at::kLong);
  nudge({.units = 8, .form = NudgeForm::by_element}, whole);
  EXPECT_TRUE(at::equal(whole, at::ones({3}, at::kLong)));
}

// On a GPU, the loss of a probability above 1 ends the process.
TEST(NudgedNoise, NoNudgeMovesAnElementAwayFromZero) {
  const at::Tensor before = at::tensor({1.0F, 0.0F, -1.0F, 1 - 0x1p-24F, 0.3F});
  for (const NudgeForm form : {NudgeForm::uniform, NudgeForm::by_element})
    for (const double units : kNudges) {
      at::Tensor moved = before.clone();
      nudge({.units = units, .form = form}, moved);
      EXPECT_TRUE(moved.abs().le(before.abs()).all().item<bool>()) << units;
      EXPECT_FALSE(at::equal(moved, before)) << units;
    }
}

}  // namespace
}  // namespace tritonsmith::gym::trial
