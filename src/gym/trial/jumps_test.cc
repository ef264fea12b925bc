#include "gym/trial/jumps.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <limits>

namespace tritonsmith::gym::trial {
namespace {

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

TEST(JumpSearch, AdoptsNoNumberWhereTheReferenceHasNone) {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN(), tolerance = 1e-3;
  for (const double first : {nan, std::numeric_limits<double>::infinity()}) {
    JumpSearch search({at_elements({0}, tolerance)}, {at_elements({first}, tolerance)});
    add(search, at_elements({first}, tolerance), kLeastJumpRounds);
    EXPECT_TRUE(search.adopted().empty());
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

}  // namespace
}  // namespace tritonsmith::gym::trial
