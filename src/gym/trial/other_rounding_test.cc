#include "gym/trial/other_rounding.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "gym/plan/testing/plan_builder.h"
#include "gym/trial/jumps.h"

namespace tritonsmith::gym::trial {
namespace {

at::Tensor on_grid(at::Tensor tensor, int round) {
  round_to_grid(jump_nudge(round), tensor);
  return tensor;
}

at::Tensor numbers(at::ScalarType type) {
  at::manual_seed(11);
  return at::randn({4096}, at::dtype(type)) * 37;
}

TEST(RoundToGrid, MovesByFewRoundingsAndASecondTimeByNone) {
  for (const at::ScalarType type : {at::kFloat, at::kDouble}) {
    const double epsilon = type == at::kFloat ? std::numeric_limits<float>::epsilon()
                                              : std::numeric_limits<double>::epsilon();
    const at::Tensor before = numbers(type);
    for (int round = 0; round < kJumpRounds; ++round) {
      const at::Tensor after = on_grid(before.clone(), round);
      const at::Tensor moved = (after - before).abs() / before.abs();
      EXPECT_LE(moved.max().item<double>(), 128 * epsilon);
      EXPECT_LE(moved.median().item<double>(), 64 * epsilon);
      EXPECT_GT(after.ne(before).sum().item<std::int64_t>(), 3000);
      EXPECT_TRUE(at::equal(on_grid(after.clone(), round), after));
    }
  }
}

TEST(RoundToGrid, MovesNumbersUpAndDownFromRoundToRound) {
  const at::Tensor before = numbers(at::kFloat);
  at::Tensor up = at::zeros({4096}, at::kBool), down = at::zeros({4096}, at::kBool);
  for (int round = 0; round < kJumpRounds; ++round) {
    const at::Tensor after = on_grid(before.clone(), round);
    up.logical_or_(after.gt(before));
    down.logical_or_(after.lt(before));
  }
  EXPECT_GT(up.logical_and(down).sum().item<std::int64_t>(), 4080);
}

// The quotient of two numbers moves both ways, also where it is exactly a half, which itself stays.
TEST(RoundToGrid, MovesNumbersApartFromEachOther) {
  const at::Tensor below = numbers(at::kFloat), above = below * 2.5;
  at::Tensor up = at::zeros({4096}, at::kBool), down = at::zeros({4096}, at::kBool);
  for (int round = 0; round < kJumpRounds; ++round) {
    const at::Tensor half = on_grid(above.clone(), round) / on_grid(below.clone(), round);
    up.logical_or_(half.gt(2.5));
    down.logical_or_(half.lt(2.5));
  }
  EXPECT_GT(up.logical_and(down).sum().item<std::int64_t>(), 4080);
}

TEST(RoundToGrid, KeepsTheOrderAndWhatSelectionsChoose) {
  const at::Tensor before = numbers(at::kFloat).view({64, 64});
  const at::Tensor after = on_grid(before.clone(), 1);
  const at::Tensor sorted = std::get<0>(before.flatten().sort());
  const at::Tensor later = on_grid(sorted.clone(), 1);
  EXPECT_TRUE(later.slice(0, 1).ge(later.slice(0, 0, -1)).all().item<bool>());
  EXPECT_TRUE(at::equal(on_grid(before.clone().view({4096}), 1), after.flatten()));
}

TEST(RoundToGrid, LeavesWholeNumbersSpecialsAndOtherTypes) {
  const double inf = std::numeric_limits<double>::infinity();
  const at::Tensor fixed = at::tensor({0.0, -3.0, 127.0, inf, -inf, 1e9, 0.3}, at::kFloat);
  const at::Tensor after = on_grid(fixed.clone(), 0);
  EXPECT_TRUE(at::equal(after.slice(0, 0, 6), fixed.slice(0, 0, 6)));
  EXPECT_NE(after[6].item<float>(), 0.3F);
  const at::Tensor halves = at::randint(-4096, 4096, {512}, at::kFloat) / 64;
  const at::Tensor among = at::cat({halves, at::randn({512})});
  EXPECT_TRUE(at::equal(on_grid(among.clone(), 0).slice(0, 0, 512), halves));
  const at::Tensor half = at::randn({64}, at::kHalf);
  EXPECT_TRUE(at::equal(on_grid(half.clone(), 0), half));
}

// The largest number below 1, times a count, is an index within bounds.
TEST(RoundToGrid, CrossesNoWholeNumberBeyondTheValuesOfTheTensor) {
  at::manual_seed(5);
  const at::Tensor before =
      at::cat({at::rand({1 << 16}), at::full({1}, std::nextafter(1.0F, 0.0F))});
  bool has_moved_out = false;
  for (int round = 0; round < 8; ++round) {
    const at::Tensor after = on_grid(before.clone(), round);
    EXPECT_LT(after.max().item<float>(), 1);
    EXPECT_TRUE(at::equal(on_grid(after.clone(), round), after));
    const at::Tensor tenths = on_grid(before * 0.7, round);
    has_moved_out =
        has_moved_out || tenths.max().item<float>() > (before * 0.7).max().item<float>();
  }
  EXPECT_TRUE(has_moved_out);
}

// 56.5 is a code's bound. Where the divisor was rounded, another rounding gives a number beside it.
TEST(OtherRounding, MovesAHalfOnlyIfAnOperandWasRounded) {
  plan::PlanBuilder builder(plan::PlanRole::task);
  const int x = builder.tensor({2}), s = builder.tensor({2}), q = builder.tensor({2}),
            code = builder.tensor({2});
  builder.input(plan::t(x))
      .aten(plan::Phase::forward, "aten::exp", {plan::t(x)}, {s})
      .aten(plan::Phase::forward, "aten::div.Tensor", {plan::t(x), plan::t(s)}, {q})
      .aten(plan::Phase::forward, "aten::relu", {plan::t(q)}, {code})
      .returns(plan::t(code));
  const plan::Plan task = builder.plan();
  int up = 0, down = 0;
  for (int round = 0; round < kJumpRounds; ++round) {
    const OtherRounding rounding(task, jump_nudge(round));
    tensors::TensorTable table = {at::tensor({16.95F, 14.125F}), at::tensor({0.3F, 0.25F}),
                                  at::tensor({56.5F, 56.5F}), at::tensor({56.5F, 56.5F})};
    for (const std::size_t step : {1U, 2U}) rounding.after_step(step, table);
    const float by_rounded = table[2][0].item<float>();
    up += by_rounded > 56.5F ? 1 : 0;
    down += by_rounded < 56.5F ? 1 : 0;
    EXPECT_NEAR(by_rounded, 56.5F, 1e-3F);
    EXPECT_EQ(table[2][1].item<float>(), 56.5F) << "14.125 / 0.25 is exact";
    EXPECT_EQ(table[3][0].item<float>(), 56.5F) << "a relu rounds nothing";
  }
  EXPECT_GT(up, 0);
  EXPECT_GT(down, 0);
}

}  // namespace
}  // namespace tritonsmith::gym::trial
