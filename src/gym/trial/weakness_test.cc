#include "gym/trial/weakness.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <functional>
#include <random>

#include "gym/trial/other_rounding.h"

namespace tritonsmith::gym::trial {
namespace {

// An arithmetic in float32 that rounds each result to a grid. A width of 1 is the usual one.
class Arithmetic {
 public:
  explicit Arithmetic(const language::ResultRounding& by) : by_(by) {}
  at::Tensor operator()(at::Tensor result) {
    by_.round += 100;
    if (!by_.is_usual())
      round_to_grid({.units = static_cast<double>(by_.width), .round = static_cast<int>(by_.round)},
                    result);
    return result;
  }

 private:
  language::ResultRounding by_;
};

using Computed = std::function<at::Tensor(const at::Tensor& x, Arithmetic& rounded)>;

at::Tensor inputs() {
  std::mt19937 random(7);
  std::normal_distribution<float> normal(3, 0.01F);
  at::Tensor values = at::empty({2048});
  for (int k = 0; k < 2048; ++k) values[k] = normal(random);
  return values;
}

at::Tensor cube(const at::Tensor& x, Arithmetic& rounded) {
  return rounded(rounded(rounded(x * x) * x) - 27.0F);
}

// The errors, in units of one error in so many.
OutputErrors errors_of(double one_in, const Computed& computed,
                       const language::ResultRounding& by) {
  const at::Tensor x = inputs(), exact = x.to(at::kDouble).pow(3) - 27;
  Arithmetic rounded(by);
  const at::Tensor errors = ((computed(x, rounded) - exact) * one_in).to(at::kFloat);
  const float* first = errors.const_data_ptr<float>();
  return {.errors = {first, first + errors.numel()}, .values = {}};
}

bool is_explained(double one_in, const Computed& computed) {
  const OutputErrors errors = errors_of(one_in, computed, {});
  RoundingSpread spread(errors);
  for (int round = 0; round < kRoundings; ++round)
    spread.add(
        errors_of(one_in, computed,
                  {.width = kRoundingWidths[0], .round = static_cast<std::uint32_t>(round)}));
  return spread.answer() == RoundingSpread::Answer::explained;
}

TEST(WeaknessTest, RoundingExplainsADifferenceOfLargeRoundedNumbers) {
  EXPECT_TRUE(is_explained(1e7, cube));
}

// A logarithm of a few units is added to a large number and loses its digits in the same way each time.
TEST(WeaknessTest, RoundingExplainsDigitsThatALargeNumberAbsorbs) {
  EXPECT_TRUE(is_explained(1e3, [](const at::Tensor& x, Arithmetic& rounded) {
    const at::Tensor large = rounded(at::full_like(x, 123456.71F));
    return cube(x, rounded) + (rounded(large + 4.158883F) - large - 4.158883F);
  }));
}

TEST(WeaknessTest, RoundingDoesNotExplainAMissingTerm) {
  EXPECT_FALSE(is_explained(1e4, [](const at::Tensor& x, Arithmetic& rounded) {
    return rounded(cube(x, rounded) - 0.001F);
  }));
}

TEST(WeaknessTest, RoundingDoesNotExplainValuesWithFewerDigits) {
  for (const double unit : {0x1p-9, 0x1p-8, 0x1p-6})  // at 3: TF32, fp16 and bf16 alike
    EXPECT_FALSE(is_explained(1e5, [&](const at::Tensor& x, Arithmetic& rounded) {
      return cube((x / unit).round() * unit, rounded);
    })) << unit;
}

// The noise follows from the bits of an input or of a result, so it is other noise each time.
TEST(WeaknessTest, RoundingDoesNotExplainNoiseThatBitsDecide) {
  const auto noise_of = [](const at::Tensor& values) {
    at::Tensor noise = at::empty_like(values);
    for (std::int64_t k = 0; k < values.numel(); ++k) {
      const auto bits = std::bit_cast<std::uint32_t>(values[k].item<float>()) * 0x9e3779b1U;
      noise[k] = static_cast<float>(bits >> 16U) / 65536.0F - 0.5F;
    }
    return noise * 0.01F;
  };
  for (const bool of_result : {false, true})
    EXPECT_FALSE(is_explained(1e4, [&](const at::Tensor& x, Arithmetic& rounded) {
      const at::Tensor y = cube(x, rounded);
      return rounded(y + noise_of(of_result ? rounded(x * x) : rounded(x * 1.0F)));
    })) << of_result;
}

using Answer = RoundingSpread::Answer;

// Returns the spread's answer about `errors`, if each run under another rounding gives `rounded`.
Answer answer_of(std::vector<float> errors, std::vector<float> rounded) {
  const OutputErrors before{.errors = std::move(errors), .values = {}};
  RoundingSpread spread(before);
  for (int round = 0; round < kRoundings; ++round) spread.add({.errors = rounded, .values = {}});
  return spread.answer();
}

TEST(WeaknessTest, ErrorsWithinTheToleranceNeedNoExplanation) {
  EXPECT_EQ(answer_of({0.5F, -0.9F}, {0.5F, -0.9F}), Answer::explained);
  const OutputErrors small{.errors = {0.5F}, .values = {}};
  EXPECT_NE(RoundingSpread(small).answer(), Answer::explained) << "nothing was measured";
}

TEST(WeaknessTest, EachErrorNeedsASpreadOfItsOwn) {
  EXPECT_EQ(answer_of({10, 10}, {100, -100}), Answer::explained);
  EXPECT_EQ(answer_of({10, 10}, {100, 11}), Answer::unexplained);
}

TEST(WeaknessTest, OneElementIn32MayJump) {
  std::vector<float> errors(64, 10), rounded(64, 100);
  rounded[7] = rounded[60] = 0.5F;  // right
  EXPECT_EQ(answer_of(errors, rounded), Answer::all_but_jumps);
  rounded[60] = 1.5F;
  EXPECT_EQ(answer_of(errors, rounded), Answer::unexplained) << "a single error of another kind";
  rounded[60] = rounded[61] = 0.5F;
  EXPECT_EQ(answer_of(errors, rounded), Answer::unexplained) << "three jumps";
}

TEST(WeaknessTest, ARunThatGivesNoNumberAtAnElementSaysNothingThere) {
  const OutputErrors before{.errors = {10, 10, 0.5F}, .values = {}};
  RoundingSpread spread(before);
  const auto add = [&](int runs, const std::vector<float>& rounded) {
    for (int run = 0; run < runs; ++run) spread.add({.errors = rounded, .values = {}});
  };
  add(kRoundings, {100, NAN, INFINITY});
  EXPECT_FALSE(spread.is_measured());
  EXPECT_EQ(spread.answer(), Answer::unexplained);
  add(kLeastRoundings, {NAN, -100, NAN});
  EXPECT_TRUE(spread.is_measured());
  EXPECT_EQ(spread.answer(), Answer::explained);
}

TEST(WeaknessTest, TheErrorsOfAnotherRunNeedTheSameSpread) {
  const OutputErrors before{.errors = {0.5F, 0.5F}, .values = {}};
  RoundingSpread spread(before);
  spread.add({.errors = {80.5F, 0.5F}, .values = {}});
  EXPECT_EQ(spread.answer_for({.errors = {-19, 1}, .values = {}}), Answer::explained);
  EXPECT_EQ(spread.answer_for({.errors = {-21, 1}, .values = {}}), Answer::unexplained);
  EXPECT_EQ(spread.answer_for({.errors = {1, 2}, .values = {}}), Answer::unexplained);
  EXPECT_EQ(spread.answer_for({.errors = {-19}, .values = {}}), Answer::unexplained);
}

TEST(WeaknessTest, DigitsAreCountedUpToThree) {
  EXPECT_EQ(lost_digits({0.1F, -120}), 2);
  EXPECT_EQ(lost_digits({1.2F}), 1);
  EXPECT_EQ(lost_digits({1e4F}), std::nullopt);
}

}  // namespace
}  // namespace tritonsmith::gym::trial
