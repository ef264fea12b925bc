#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "gym/trial/perturb/patterns.h"
#include "gym/trial/perturb/small_rows.h"
#include "gym/trial/perturb/truth_rows.h"

namespace tritonsmith::gym::trial {
namespace {

using device::InputChange;
namespace pattern = device::pattern;

const std::vector<double> kNanAndInfinities = {std::numeric_limits<double>::infinity(),
                                               std::numeric_limits<double>::quiet_NaN(),
                                               -std::numeric_limits<double>::infinity()};

at::Tensor after(const InputChange& change, at::Tensor tensor) {
  at::manual_seed(change.seed);
  apply_pattern(change, tensor);
  return tensor;
}

// However few rows there are, one is small enough that the epsilon counts.
TEST(SmallRows, AnEpsilonCountsWhateverTheShape) {
  for (const double epsilon : {1e-5, 1e-7, 1e-12})
    for (const bool is_of_elements : {false, true})
      for (const auto& shape : std::vector<std::vector<std::int64_t>>{
               {40}, {1, 40}, {3, 40}, {2, 3, 40}, {2, 1, 40}, {4, 8, 5, 40}}) {
        const double base = 1.0 / 20;
        const InputChange change{
            .factor = base,
            .pattern = pattern::SmallRows{factors_for({{epsilon, is_of_elements}}, base, 1e-15)}};
        const at::Tensor now = after(change, at::randn(shape)) * base;
        const at::Tensor squares = now.to(at::kDouble).square().mean(-1);
        EXPECT_LT(squares.min().item<double>(), 4 * epsilon) << epsilon;
        EXPECT_GT(squares.min().item<double>(), 0);
      }
}

// factor_below() makes elements so small that their largest, their range and their norm stay below the epsilon.
TEST(TinyInputs, NoStatisticOfTheWholeReachesTheEpsilon) {
  for (const double epsilon : {1e-5, 1e-7, 1e-12})
    for (const std::int64_t count : {2, 300, 100'000}) {
      at::manual_seed(5);
      const at::Tensor all =
          at::randn({count}, at::kDouble) * factor_below({{1e-2, false}, {epsilon, true}}, count);
      EXPECT_LT(all.norm().item<double>(), epsilon);
      EXPECT_LT((all.max() - all.min()).item<double>(), 2 * epsilon);
      EXPECT_GT(all.abs().max().item<double>(),
                1e-4 * epsilon / std::sqrt(static_cast<double>(count)));
    }
  EXPECT_EQ(factor_below({{1e-20, true}}, 300), 1) << "squares would be 0";
  EXPECT_EQ(factor_below({}, 300), 1);
}

TEST(SmallRows, ColumnsAreSmallTooAndMostElementsStay) {
  const InputChange change{.pattern = pattern::SmallRows{{1e-4, 1e-5}}};
  const at::Tensor now = after(change, at::ones({60, 64}));
  EXPECT_LT(std::get<0>(now.max(0)).min().item<float>(), 1e-3) << "a column is small in all rows";
  EXPECT_GT(now.eq(1).to(at::kFloat).mean().item<float>(), 0.25);
}

// A sum of two inputs is small where both are, and a product shows what is small in one.
TEST(SmallRows, AnotherInputIsSmallInSomeOfTheSameRowsOnly) {
  pattern::SmallRows small{.factors = {1e-3, 1e-4}};
  const at::Tensor first = after({.pattern = small}, at::ones({12, 4})).select(1, 0);
  small.beside = 16;
  const at::Tensor second = after({.pattern = small}, at::ones({12, 4})).select(1, 0);
  const at::Tensor is_small = first.lt(0.5);
  EXPECT_TRUE(is_small.logical_and(second.lt(0.5)).any().item<bool>());
  EXPECT_TRUE(is_small.logical_and(second.eq(16)).any().item<bool>());
}

TEST(SmallRows, RoundedElementsLoseNothingByACast) {
  const at::Tensor now = after({.pattern = pattern::SmallRows{.factors = {0.125}, .rounds = true}},
                               at::randn({16, 20}));
  EXPECT_TRUE(at::equal(now, now.to(at::kBFloat16).to(at::kFloat)));
}

TEST(NamedValues, AMaskOfFewElementsIsFlippedUnderEverySecret) {
  for (const std::int64_t count : {1, 2, 6})
    for (std::uint64_t seed = 0; seed < 20; ++seed)
      EXPECT_FALSE(after({.seed = seed, .pattern = pattern::Flips{}}, at::ones({count}, at::kBool))
                       .all()
                       .item<bool>());
}

TEST(SmallRows, NoRowFallsBelowTheLeast) {
  for (const double factor : factors_for({{1e-12, true}}, 0.05, 1e-7))
    EXPECT_GE(factor * 0.05, 0.5e-7);
}

// For each of two values, and each of the last and the middle position, some row differs there
// alone.
TEST(TruthRows, OneElementDecidesAtTheEndAndInTheMiddle) {
  for (const std::int64_t variant : {0, 1, 2, 3}) {
    const at::Tensor now =
        after({.seed = 5, .pattern = pattern::Truths{.variant = variant, .dimension = 1}},
              at::rand({8, 30}).lt(0.5));
    for (const std::int64_t position : {15, 29})
      for (const bool value : {false, true}) {
        const at::Tensor differs = now.ne(value);
        const at::Tensor here = differs.select(1, position).logical_and(differs.sum(1).eq(1));
        EXPECT_TRUE(here.any().item<bool>()) << variant << " " << position << " " << value;
      }
  }
}

// Two inputs that are compared hardly ever have equal rows. One of them holds one number then.
TEST(TruthRows, SomeRowIsAllAlikeInOneOfTheTrialsHoweverFewThereAre) {
  for (const std::int64_t rows : {2, 3, 6, 8}) {
    bool is_some_alike = false;
    for (const std::int64_t variant : {0, 1}) {
      const at::Tensor now = after(
          {.seed = 5,
           .pattern =
               pattern::Truths{.variant = variant, .dimension = 1, .values = {0.5, -0.5, 1.5}}},
          at::randn({rows, 30}));
      is_some_alike =
          is_some_alike || now.eq(now.select(1, 0).unsqueeze(1)).all(1).any().item<bool>();
    }
    EXPECT_TRUE(is_some_alike) << rows;
  }
}

TEST(TruthRows, WithoutADimensionTheTrialsDiffer) {
  const auto row = [](std::int64_t variant) {
    return after({.seed = 5, .pattern = pattern::Truths{.variant = variant}},
                 at::rand({30}).lt(0.5));
  };
  EXPECT_TRUE(row(0).select(0, 29).item<bool>());
  EXPECT_EQ(row(0).sum().item<std::int64_t>(), 1);
  EXPECT_FALSE(row(1).select(0, 29).item<bool>());
  EXPECT_EQ(row(1).sum().item<std::int64_t>(), 29);
}

TEST(TruthRows, ValuesLieOnEachSideOfABoundAndWithinADraw) {
  EXPECT_EQ(values_around({3, -3}, nullptr), (std::vector<double>{-4, -3, 0, 3, 4}));
  const plan::analysis::InputDraw draw{
      .kind = plan::analysis::DrawKind::whole, .low = 0, .high = 9};
  EXPECT_EQ(values_around({3}, &draw), (std::vector<double>{0, 2, 3, 4, 9}));
  EXPECT_EQ(values_around({0}, &draw), (std::vector<double>{0, 1, 9}));
}

// Leaving the last or the middle element out of a row's least or largest is wrong somewhere.
TEST(NamedValues, LeastAndLargestStandAloneAtNamedPositions) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const InputChange change{.seed = seed, .pattern = pattern::Skewed{{-9, 9}}};
    const at::Tensor now = after(change, at::randint(-9, 10, {40, 25}, at::kLong));
    EXPECT_GE(now.min().item<std::int64_t>(), -9);
    EXPECT_LE(now.max().item<std::int64_t>(), 9);
    for (const std::int64_t position : {24, 12})
      for (const std::int64_t value : {-9, 9}) {
        const at::Tensor is_it = now.eq(value);
        EXPECT_TRUE(is_it.select(1, position).logical_and(is_it.sum(1).eq(1)).any().item<bool>())
            << seed << " " << position << " " << value;
      }
  }
}

// Positions among equal values have no one order, so no row has two that are its least or its
// largest.
TEST(NamedValues, ExtremesOfAWideDrawAreAllDifferent) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const InputChange change{.seed = seed, .pattern = pattern::Extremes{{-100000, 100000}}};
    const at::Tensor now =
        after(change, at::randint(-100000, 100001, {12, 60}, at::dtype(at::kInt)));
    EXPECT_GE(now.min().item<std::int64_t>(), -100000);
    EXPECT_LE(now.max().item<std::int64_t>(), 100000);
    for (const at::Tensor& rows : {now, -now}) {
      const at::Tensor largest = rows.amax(1, true);
      EXPECT_TRUE(rows.eq(largest).sum(1).eq(1).all().item<bool>()) << seed;
      for (const std::int64_t position : {59, 30})
        EXPECT_TRUE(rows.argmax(1).eq(position).any().item<bool>()) << seed << " " << position;
    }
  }
}

TEST(NamedValues, AnInfinityStandsAloneAtTheEndAndInTheMiddle) {
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    const at::Tensor now =
        at::isinf(after({.seed = seed, .pattern = pattern::Specials{.numbers = kNanAndInfinities}},
                        at::randn({40, 25})));
    const at::Tensor alone = now.logical_and(now.sum(1, true).eq(1));
    for (const std::int64_t position : {24, 12})
      EXPECT_TRUE(alone.select(1, position).any().item<bool>()) << seed;
  }
}

}  // namespace
}  // namespace tritonsmith::gym::trial
