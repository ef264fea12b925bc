#include "gym/trial/jumps.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "gym/plan/testing/plan_builder.h"

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

ElementValues at_elements(std::initializer_list<double> values, double tolerance = 0) {
  const std::vector<double> list(values);
  const auto count = static_cast<std::int64_t>(list.size());
  return {.rows = count,
          .numel = count,
          .elements = at::arange(count),
          .values = at::tensor(list, at::kDouble),
          .tolerance = tolerance,
          .unit = tolerance > 0 ? 1.0 : 0.0};
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

TEST(FewWrongElements, FindsThemAmongManyRightOnes) {
  const at::Tensor expected = at::arange(4096, at::kInt);
  at::Tensor got = expected.clone();
  got[7] = 8;
  got[4000] = 3999;
  const auto few = few_wrong_elements({got}, {expected}, {});
  ASSERT_EQ(few.size(), 1U);
  EXPECT_TRUE(at::equal(few[0].elements, at::tensor({7, 4000}, at::kLong)));
  EXPECT_TRUE(at::equal(few[0].values, at::tensor({8.0, 3999.0}, at::kDouble)));
}

TEST(FewWrongElements, NamesNoneWhereManyAreWrongOrTypesDiffer) {
  const at::Tensor expected = at::arange(4096, at::kInt);
  EXPECT_TRUE(few_wrong_elements({expected + expected.lt(65)}, {expected}, {}).empty());
  EXPECT_TRUE(few_wrong_elements({expected.to(at::kLong) + 1}, {expected}, {}).empty());
  EXPECT_TRUE(few_wrong_elements({expected}, {expected}, {}).empty());
  const at::Tensor one = at::ones({1}, at::kInt);
  EXPECT_TRUE(few_wrong_elements({one + 1}, {one}, {}).empty());
  const at::Tensor large = at::full({128}, std::int64_t{1} << 60, at::kLong);
  EXPECT_TRUE(
      few_wrong_elements({large.index_fill(0, at::zeros({1}, at::kLong), 1)}, {large}, {}).empty());
}

TEST(FewWrongElements, NamesManyOnlyWhereTheReferenceLosesDigits) {
  at::manual_seed(3);
  const at::Tensor exact = at::rand({4096}, at::kDouble), expected = exact.to(at::kFloat);
  const at::Tensor rough = (exact + 1e-3 * at::randn({4096}, at::kDouble)).to(at::kFloat);
  const at::Tensor got = expected + 5e-3;
  EXPECT_TRUE(few_wrong_elements({got}, {expected}, {}, {exact}).empty());
  EXPECT_TRUE(few_wrong_elements({got}, {rough}, {}).empty()) << "nothing exact is known";
  const auto many = few_wrong_elements({got}, {rough}, {}, {exact});
  ASSERT_EQ(many.size(), 1U);
  EXPECT_TRUE(many[0].is_many);
  EXPECT_TRUE(many[0].loses_digits);
  const auto few = few_wrong_elements({rough + rough.lt(1e-2)}, {rough}, {}, {exact});
  ASSERT_EQ(few.size(), 1U);
  EXPECT_FALSE(few[0].is_many);
  EXPECT_TRUE(few[0].loses_digits);
}

// Adds the same values several times.
void add(JumpSearch& search, const ElementValues& values, int times = 1) {
  for (int time = 0; time < times; ++time) search.add({values});
}

TEST(JumpSearch, AdoptsValuesThatTheReferenceAlsoHas) {
  JumpSearch search({at_elements({4, -2})}, {at_elements({3, -3})});
  add(search, at_elements({3, -2}));
  EXPECT_FALSE(search.is_over());
  EXPECT_TRUE(search.adopted().empty());
  add(search, at_elements({4, -3}), kLeastJumpRounds);
  EXPECT_TRUE(search.is_over());
  ASSERT_EQ(search.adopted().size(), 1U);
  EXPECT_TRUE(at::equal(search.adopted()[0].values, at::tensor({4.0, -2.0}, at::kDouble)));
}

TEST(JumpSearch, AdoptsNothingThatTheReferenceNeverHas) {
  JumpSearch search({at_elements({5})}, {at_elements({3})});
  add(search, at_elements({3}), kRoundsWithoutJump);
  EXPECT_TRUE(search.is_over());
  EXPECT_TRUE(search.adopted().empty());
}

TEST(JumpSearch, AdoptsNoNoise) {
  JumpSearch search({at_elements({5})}, {at_elements({3})});
  add(search, at_elements({5}));
  add(search, at_elements({4}));
  add(search, at_elements({5}), kLeastJumpRounds);
  EXPECT_TRUE(search.adopted().empty()) << "a third value, as of a count";
}

TEST(JumpSearch, AdoptsASumOfCodesWithinTheRangeOfTheReferences) {
  constexpr double tolerance = 1e-2;
  JumpSearch search({at_elements({4, -4}, tolerance)}, {at_elements({1, -1}, tolerance)});
  for (const double sum : {2.0, 3.0, 0.0, 1.0}) add(search, at_elements({sum, -sum}, tolerance), 2);
  EXPECT_TRUE(search.adopted().empty()) << "3 is the largest";
  EXPECT_FALSE(search.is_over());
  add(search, at_elements({5, -1}, tolerance));
  add(search, at_elements({1, -3.98}, tolerance));
  ASSERT_EQ(search.adopted().size(), 1U);
  EXPECT_TRUE(search.is_over());
  EXPECT_TRUE(at::equal(search.adopted()[0].values, at::tensor({4.0, -3.98}, at::kDouble)));
}

TEST(JumpSearch, AllowsSomewhatMoreThanTheRangeWhereRoundingsAreFine) {
  constexpr double tolerance = 1e-3;
  for (const double wanted : {2.4, 2.7}) {
    JumpSearch coarse({at_elements({wanted}, tolerance)}, {at_elements({0}, tolerance)}),
        fine({at_elements({wanted}, tolerance)}, {at_elements({0}, tolerance)}, true);
    add(coarse, at_elements({2}, tolerance), kLeastJumpRounds);
    add(fine, at_elements({2}, tolerance), kLeastJumpRounds);
    EXPECT_TRUE(coarse.adopted().empty());
    EXPECT_EQ(fine.adopted().empty(), wanted > 2.5) << wanted;
  }
}

// [a, a] is no order of a and b, though both [a, b] and [b, a] are.
TEST(JumpSearch, WantsAllElementsOfARowFromOneRun) {
  const auto row = [](std::initializer_list<double> values) {
    ElementValues one = at_elements(values);
    one.rows = 1;
    return one;
  };
  JumpSearch search({row({7, 7})}, {row({7, 9})});
  add(search, row({9, 7}), kJumpRounds);
  EXPECT_TRUE(search.adopted().empty());
  JumpSearch swapped({row({9, 7})}, {row({7, 9})});
  add(swapped, row({9, 7}), kJumpRounds);
  EXPECT_EQ(swapped.adopted().size(), 1U);
}

TEST(JumpNote, CountsTheElementsOfAllOutputs) {
  const Finding note = jump_note({at_elements({4, 5}), at_elements({7})});
  EXPECT_EQ(note.severity, Severity::note);
  EXPECT_TRUE(note.message.starts_with("at 3 elements of the outputs ")) << note.message;
}

TEST(SearchJumps, EndsWhereTheReferenceCannotBeAsked) {
  int asked = 0;
  const auto ask_until = [&](int last) {
    return [&asked, last](const Nudge&) -> std::optional<std::vector<ElementValues>> {
      if (++asked > last) return std::nullopt;
      return std::vector{at_elements({4})};
    };
  };
  EXPECT_TRUE(search_jumps({at_elements({4})}, {at_elements({3})}, ask_until(2)).empty());
  EXPECT_EQ(asked, 3);
  asked = 0;
  EXPECT_EQ(search_jumps({at_elements({4})}, {at_elements({3})}, ask_until(kJumpRounds)).size(),
            1U);
  EXPECT_EQ(asked, kLeastJumpRounds);
  EXPECT_TRUE(search_jumps({}, {}, ask_until(0)).empty());
}

TEST(SearchJumps, RoundsFinelyWhereCoarseRoundingsShowNoise) {
  const auto ask = [](const Nudge& nudge) -> std::optional<std::vector<ElementValues>> {
    return std::vector{at_elements({nudge.units > 4 ? 5.0 : 4.0})};
  };
  EXPECT_EQ(search_jumps({at_elements({4})}, {at_elements({3})}, ask).size(), 1U);
  EXPECT_TRUE(search_jumps({at_elements({6})}, {at_elements({3})}, ask).empty());
}

TEST(SearchJumps, RoundsOnlyFinelyWhereManyAreWrong) {
  ElementValues many = at_elements({4.0}, 1e-3);
  many.is_many = many.loses_digits = true;
  int asked = 0;
  const auto ask = [&](const Nudge& nudge) -> std::optional<std::vector<ElementValues>> {
    ++asked;
    EXPECT_EQ(nudge.units, 4);
    return std::vector{at_elements({5.0}, 1e-3)};
  };
  EXPECT_EQ(search_jumps({many}, {at_elements({3}, 1e-3)}, ask).size(), 1U);
  EXPECT_EQ(asked, kLeastJumpRounds);
  EXPECT_TRUE(
      confirmed_by_exact({many}, {at_elements({3}, 1e-3)}, {at_elements({4}, 1e-3)}).empty());
}

}  // namespace
}  // namespace tritonsmith::gym::trial
