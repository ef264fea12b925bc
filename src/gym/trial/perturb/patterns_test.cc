#include "gym/trial/perturb/patterns.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

namespace tritonsmith::gym::trial {
namespace {

using device::InputChange;
namespace pattern = device::pattern;

const std::vector<double> kSpecials = {std::numeric_limits<double>::infinity(),
                                       std::numeric_limits<double>::quiet_NaN(),
                                       -std::numeric_limits<double>::infinity()};

at::Tensor changed(const InputChange& change, at::Tensor tensor) {
  at::manual_seed(change.seed);
  apply_pattern(change, tensor);
  return tensor;
}

// One draw of many must show each kind of row, whatever the secret.
TEST(Pattern, UnevenRowsAreOfEveryKindUnderEverySecret) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const at::Tensor rows =
        changed({.seed = seed, .pattern = pattern::Uneven{.reach = 100}}, at::randn({64, 40}));
    const at::Tensor least = std::get<0>(rows.min(1)), most = std::get<0>(rows.max(1));
    EXPECT_TRUE(least.eq(0).logical_and(most.eq(0)).any().item<bool>()) << seed;
    EXPECT_TRUE(least.eq(most).logical_and(most.ne(0)).any().item<bool>()) << seed;
    EXPECT_TRUE(most.gt(90).any().item<bool>()) << seed;
    EXPECT_TRUE(most.lt(10).any().item<bool>()) << seed << ": ordinary rows remain";
  }
}

// The maximum of any half must differ from the whole row's in some row.
TEST(Pattern, NoHalfOfAllUnevenRowsHoldsTheMaximum) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const at::Tensor rows =
        changed({.seed = seed, .pattern = pattern::Uneven{.reach = 100}}, at::randn({64, 40}));
    for (const std::int64_t half : {0, 20}) {
      const at::Tensor gap = rows.amax(1) - rows.narrow(1, half, 20).amax(1);
      EXPECT_GT(gap.max().item<float>(), 88) << seed << ": beyond what an exponential holds";
    }
  }
}

TEST(Pattern, UnevenRowsThatMayNotTieDoNot) {
  const at::Tensor rows = changed(
      {.seed = 3, .pattern = pattern::Uneven{.reach = 100, .may_tie = false}}, at::randn({64, 40}));
  EXPECT_TRUE(rows.amin(1).lt(rows.amax(1)).all().item<bool>());
}

TEST(Pattern, UnevenWithoutReachKeepsToTheTensorsOwnValues) {
  const at::Tensor rows =
      changed({.seed = 3, .pattern = pattern::Uneven{}}, at::rand({64, 40}) + 5);
  EXPECT_GE(rows.min().item<float>(), 5);
  EXPECT_LE(rows.max().item<float>(), 6);
}

// The mean of 99 of 100 elements must miss the tolerance of fp32, whatever part is left out.
TEST(Pattern, NoSampleOfRaggedElementsHasTheMean) {
  constexpr std::int64_t count = 65536, few = count / 100;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const at::Tensor row =
        changed({.seed = seed, .pattern = pattern::Ragged{1024}}, at::rand({count}))
            .to(at::kDouble);
    const double mean = row.mean().item<double>();
    for (const at::Tensor& part : {row.narrow(0, 0, count - few), row.narrow(0, few, count - few)})
      EXPECT_GT(std::abs(part.mean().item<double>() / mean - 1), 3e-4) << seed;
  }
}

TEST(Pattern, UnevenHasLargeElementsOfBothSignsAtTheLastIndexOfEachDimension) {
  constexpr double reach = 100;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    at::manual_seed(seed);
    const at::Tensor now = changed({.seed = seed, .pattern = pattern::Uneven{.reach = reach}},
                                   at::randn({40, 30, 50}));
    for (const std::int64_t dim : {0, 1, 2}) {
      const at::Tensor last = now.select(dim, now.size(dim) - 1);
      EXPECT_GT(last.max().item<double>(), reach / 2) << seed;
      EXPECT_LT(last.min().item<double>(), -reach / 2) << seed;
    }
  }
}

TEST(Pattern, UnevenHasLargeElementsOfBothSignsAtEachPositionThatIsNamed) {
  constexpr double least = 15;
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    at::manual_seed(seed);
    const at::Tensor now =
        changed({.seed = seed, .pattern = pattern::Uneven{.reach = 100, .positions = {7, 1201}}},
                at::randn({16, 2048}));
    for (const std::int64_t position : {6, 7, 1200, 1201}) {
      const at::Tensor there = now.select(1, position);
      EXPECT_GT(there.max().item<double>(), least) << seed;
      EXPECT_LT(there.min().item<double>(), -least) << seed;
    }
  }
}

TEST(Pattern, NoiseChangesEachElementAndFlipsChangeMasks) {
  const at::Tensor ones = changed({.seed = 1, .pattern = pattern::Noise{}}, at::ones({1000}));
  EXPECT_GT(ones.std().item<float>(), 0.5);
  for (at::Tensor mask : {at::ones({1000}).to(at::kBool), at::tril(at::ones({30, 30}))}) {
    const at::Tensor before = mask.clone();
    const at::Tensor now = changed({.seed = 1, .pattern = pattern::Flips{}}, mask);
    const double share = now.ne(before).to(at::kFloat).mean().item<double>();
    EXPECT_GT(share, 0.05);
    EXPECT_LT(share, 0.25);
  }
}

TEST(Pattern, WholeNumbersStayThoseThatWereDrawn) {
  for (const device::Pattern& each :
       {device::Pattern(pattern::Sorted{}), device::Pattern(pattern::Skewed{})}) {
    const at::Tensor drawn = at::randint(3, 9, {500}, at::kLong);
    const at::Tensor now = changed({.seed = 1, .pattern = each}, drawn.clone());
    EXPECT_GE(now.min().item<std::int64_t>(), 3);
    EXPECT_LT(now.max().item<std::int64_t>(), 9);
    EXPECT_FALSE(at::equal(now, drawn));
  }
}

std::vector<std::int64_t> changed_whole(std::vector<std::int64_t> values, std::uint64_t seed = 0,
                                        pattern::Whole whole = {}) {
  const at::Tensor now =
      changed({.seed = seed, .pattern = std::move(whole)}, at::tensor(values, at::kLong));
  const auto* first = now.const_data_ptr<std::int64_t>();
  return {first, first + now.numel()};
}

using Whole = std::vector<std::int64_t>;

TEST(WholeInputs, PositionsAndLengthsAreReversed) {
  EXPECT_EQ(changed_whole({0, 1, 2, 3}), (Whole{3, 2, 1, 0}));
  EXPECT_EQ(changed_whole({64, 17, 33, 50}), (Whole{50, 33, 17, 64}));
  EXPECT_EQ(changed_whole({5, 1, 5}), (Whole{1, 5, 5})) << "turned, it is as before";
}

TEST(WholeInputs, OffsetsStaySortedAndKeepTheirLengths) {
  EXPECT_EQ(changed_whole({0, 7, 10, 64}), (Whole{0, 54, 57, 64}));
}

// Steps of offsets are lengths of parts of another input, which has 48 elements.
TEST(WholeInputs, EqualStepsBecomeUnequalAndNoneZero) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const Whole now = changed_whole({0, 16, 32, 48}, seed, {.sizes = {48}});
    EXPECT_NE(now, (Whole{0, 16, 32, 48}));
    EXPECT_EQ(now.front(), 0);
    EXPECT_EQ(now.back(), 48);
    for (std::size_t k = 1; k < now.size(); ++k) EXPECT_GT(now[k], now[k - 1]);
  }
}

TEST(WholeInputs, EqualStepsStayIfPythonHoldsTheirLength) {
  EXPECT_EQ(changed_whole({0, 16, 32, 48}, 0, {.sizes = {48}, .held = {16}}),
            (Whole{0, 16, 32, 48}));
}

// Another input has more elements than the last number says, and nobody says how long a part may be.
TEST(WholeInputs, EqualStepsWithRoomBehindThemBecomeShorterAndNoneLonger) {
  for (const Whole& before :
       {Whole{0, 32, 64, 96, 128}, Whole{0, 2, 4, 6, 8, 10}, Whole{5, 12, 19}})
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
      const Whole now = changed_whole(before, seed, {.sizes = {150, 4}});
      const std::int64_t step = before[1] - before[0];
      EXPECT_EQ(now.front(), before.front());
      std::int64_t shortest = step, longest = 0;
      for (std::size_t k = 1; k < now.size(); ++k) {
        shortest = std::min(shortest, now[k] - now[k - 1]);
        longest = std::max(longest, now[k] - now[k - 1]);
        if (step == 32) {
          EXPECT_EQ(now[k] % 16, 0) << "parts stay aligned";
        }
      }
      EXPECT_EQ(longest, step);
      EXPECT_LT(shortest, step);
      EXPECT_GT(shortest, 0);
    }
}

TEST(WholeInputs, EqualStepsStayIfPartsMayNotOverlapOrEndElsewhere) {
  const Whole before = {0, 32, 64, 96};
  EXPECT_EQ(changed_whole(before, 1, {.overwrites = true}), before);
  EXPECT_EQ(changed_whole(before, 1, {.products = {96}}), before);
  EXPECT_EQ(changed_whole(before, 1, {.held = {96}}), before);
  EXPECT_EQ(changed_whole(before, 1, {.beside_offsets = true}), before) << "starts beside ends";
  EXPECT_EQ(changed_whole(before, 1, {.sizes = {128}}), before) << "the last part would grow";
  EXPECT_EQ(changed_whole({32, 64, 96}, 1, {.sizes = {96}}), (Whole{32, 64, 96})) << "ends alone";
}

// Their table depends on distances, and still does.
TEST(WholeInputs, NegativeNumbersOfManySizesAreNoMarks) {
  const at::Tensor place = at::arange(8, at::kLong), apart = place.unsqueeze(1) - place;
  EXPECT_TRUE(changed({.pattern = pattern::Whole{}}, apart.clone()).equal(-apart));
}

TEST(WholeInputs, NegativeNumbersAmongOthersKeepTheirPositions) {
  EXPECT_EQ(changed_whole({3, 1, 7, 2, 5, 0, -1, -1, 8, 9, 10, -1}),
            (Whole{10, 9, 8, 0, 5, 2, -1, -1, 7, 1, 3, -1}));
  EXPECT_EQ(changed_whole({0, 0, 1, 1, 1, -1, -1}), (Whole{0, 0, 0, 1, 1, -1, -1}))
      << "sorted groups stay sorted";
  EXPECT_EQ(changed_whole({1, 1, -1}), (Whole{-1, 1, 1})) << "they are signs";
  EXPECT_EQ(changed_whole({-10, -3, 0, 50}), (Whole{-10, 40, 43, 50})) << "they are numbers";
}

TEST(WholeInputs, MarksOfEqualRowsKeepTheirColumns) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const at::Tensor row = at::tensor({6, 5, 4, -1, 9, -1}, at::kLong);
    const at::Tensor now = changed({.seed = seed, .pattern = pattern::Whole{}}, row.repeat({4, 1}));
    EXPECT_TRUE(now.lt(0).eq(row.lt(0)).all().item<bool>());
    EXPECT_FALSE(at::equal(now, row.repeat({4, 1})));
  }
}

// Lengths beside a table with marks: a longer one would reach a mark.
TEST(WholeInputs, BesideMarksNoNumberGrows) {
  const pattern::Whole whole{.growth = 3, .sizes = {48, 4}, .beside_marks = true};
  for (const Whole& before : {Whole{30, 11, 24}, Whole{11, 24, 30}, Whole{1, 2, 3},
                              Whole{12, 12, 12, 12}, Whole{0, 16, 32, 48}, Whole{1, 1, 1}})
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
      const Whole now = changed_whole(before, seed, whole);
      for (std::size_t k = 0; k < now.size(); ++k) EXPECT_LE(now[k], before[k]);
    }
  EXPECT_EQ(changed_whole({30, 11, 24}, 0, whole), (Whole{24, 11, 24}));
}

TEST(WholeInputs, GroupsOfEqualSizesGetOtherSizesAndNoneIsEmpty) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const Whole before = {0, 0, 0, 1, 1, 1, 2, 2, 2};
    const Whole now = changed_whole(before, seed, {.sizes = {9}});
    EXPECT_NE(now, before);
    EXPECT_TRUE(std::ranges::is_sorted(now));
    for (const std::int64_t group : {0, 1, 2}) EXPECT_GT(std::ranges::count(now, group), 0);
  }
}

TEST(WholeInputs, ZerosThatNameIndicesStayWithinTheTable) {
  const Whole now = changed_whole(Whole(40, 0), 1, {.growth = 4});
  EXPECT_EQ(std::ranges::min(now), 0);
  EXPECT_EQ(std::ranges::max(now), 4);
}

TEST(WholeInputs, EqualLengthsBecomeShorterAndNoneLonger) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const Whole now = changed_whole(Whole(8, 64), seed);
    EXPECT_EQ(std::ranges::max(now), 64);
    EXPECT_LT(std::ranges::min(now), 64);
    EXPECT_GE(std::ranges::min(now), 1);
    const Whole one = changed_whole({3}, seed);
    EXPECT_TRUE(one == Whole{1} || one == Whole{2});
  }
}

TEST(WholeInputs, CountsKeepTheirSum) {
  const Whole now = changed_whole(Whole(8, 16), 3, {.sizes = {128, 4}});
  EXPECT_EQ(std::accumulate(now.begin(), now.end(), std::int64_t{0}), 128);
  EXPECT_NE(now, Whole(8, 16));
}

TEST(WholeInputs, ZerosAreOnlyChangedWhereTheyAreNumbers) {
  EXPECT_EQ(changed_whole(Whole(8, 0), 1), Whole(8, 0));
  EXPECT_NE(changed_whole(Whole(8, 0), 1, {.growth = 1}), Whole(8, 0));
}

TEST(Pattern, TiesAreHalvesAndTheNumbersGiven) {
  const at::Tensor now = changed(
      {.seed = 1, .pattern = pattern::Ties{.scale = 4, .numbers = {0.3}}}, at::randn({1000}));
  const at::Tensor given = (now - 0.3).abs().lt(1e-6);
  EXPECT_GT(given.sum().item<std::int64_t>(), 20);
  EXPECT_TRUE(given.logical_or((now * 8).eq((now * 8).round())).all().item<bool>());
  EXPECT_TRUE(now.eq(0).any().item<bool>());
  EXPECT_FALSE(at::signbit(now).logical_and_(now.eq(0)).any().item<bool>());
}

// Draws of few digits make equal numbers, and stay within their bounds.
TEST(Pattern, AGridStaysBetweenTheBoundsOfADraw) {
  for (const double low : {0.0, -1.0, 2.5}) {
    const at::Tensor now =
        changed({.pattern = pattern::Grid{.from = low, .step = 0.125}}, at::rand({999}) * 2 + low);
    EXPECT_GE(now.min().item<float>(), low);
    EXPECT_LT(now.max().item<float>(), low + 2);
    EXPECT_TRUE(((now - low) * 8).frac().eq(0).all().item<bool>());
  }
  const at::Tensor whole = changed({.pattern = pattern::Grid{.from = -50, .step = 12}},
                                   at::randint(-50, 50, {999}, at::kInt));
  EXPECT_GE(whole.min().item<int>(), -50);
  EXPECT_TRUE((whole + 50).remainder(12).eq(0).all().item<bool>());
}

// Whatever a kernel does at an index of its own, some row shows it.
TEST(Pattern, WhatDecidesStandsAtPositionsOfTheCode) {
  constexpr std::int64_t rows = 32, columns = 500, position = 333, largest = 1 << 30;
  const std::vector<std::int64_t> positions = {2048, position, 0};
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const at::Tensor specials = changed(
        {.seed = seed, .pattern = pattern::Specials{.numbers = kSpecials, .positions = positions}},
        at::zeros({rows, columns}));
    EXPECT_TRUE(specials.select(1, position).isfinite().logical_not().any().item<bool>());
    EXPECT_TRUE(specials.select(1, position - 1).isfinite().logical_not().any().item<bool>());
    const at::Tensor whole = at::randint(1000, {rows, columns}, at::kLong);
    for (const device::Pattern& pattern :
         {device::Pattern(pattern::Near{largest, positions}),
          device::Pattern(pattern::Extremes{{-1000000, 1000000}, positions}),
          device::Pattern(pattern::Skewed{{-1000000, 1000000}, positions})}) {
      const at::Tensor numbers = changed({.seed = seed, .pattern = pattern}, whole.clone());
      const at::Tensor decides =
          numbers.argmax(1).eq(position).logical_or(numbers.argmin(1).eq(position));
      EXPECT_TRUE(decides.any().item<bool>()) << pattern.index();
    }
  }
}

// A half stays a half when it is divided by the share of its group's largest size.
TEST(Pattern, TheLargestSizeOfEachGroupIsTheNumber) {
  for (std::uint64_t seed = 0; seed < 20; ++seed)
    for (const double number : {127.0, 7.0}) {
      const at::Tensor now =
          changed({.seed = seed,
                   .pattern = pattern::ScaledTies{.largest = number, .dim = -1, .shape = {12, 32}}},
                  at::randn({3, 128}) * 4);
      const at::Tensor groups = now.view({12, 32});
      const at::Tensor scale = groups.abs().amax(1, true) / number;
      EXPECT_TRUE(scale.eq(1).all().item<bool>());
      EXPECT_TRUE((groups / scale * 2).frac().eq(0).all().item<bool>());
      EXPECT_TRUE(groups.frac().ne(0).any().item<bool>());
      EXPECT_FALSE(at::signbit(groups).logical_and_(groups.eq(0)).any().item<bool>());
    }
}

TEST(Pattern, AShortListHoldsTheNumbersAlone) {
  const InputChange change{.pattern = pattern::Sorted{.numbers = {1, 2, 3, 4, 5, 6},
                                                      .leaves_one_out = true,
                                                      .fills_small = true}};
  EXPECT_LE(changed(change, at::randint(100, 200, {5}, at::kLong)).max().item<int>(), 6);
  EXPECT_GE(changed(change, at::randint(100, 200, {50}, at::kLong)).max().item<int>(), 100);
}

// In other trials another position may take the only row that is left.
TEST(Pattern, TheLargestAndTheLeastOfSomeOfFewRowsStandInTheMiddle) {
  for (std::uint64_t seed = 0; seed < 20; ++seed)
    for (const std::int64_t rows : {4, 7}) {
      const at::Tensor now =
          changed({.seed = seed, .pattern = pattern::Uneven{.reach = 100, .may_tie = false}},
                  at::randn({rows, 300}));
      EXPECT_TRUE(now.argmax(1).eq(150).any().item<bool>()) << seed << " " << rows;
      EXPECT_TRUE(now.argmin(1).eq(150).any().item<bool>()) << seed << " " << rows;
    }
}

TEST(Pattern, CloseValuesAreDistinctNeighbours) {
  for (const at::ScalarType type : {at::kFloat, at::kDouble}) {
    const at::Tensor now =
        std::get<0>(changed({.seed = 1, .pattern = pattern::Close{}}, at::randn({40, 25}, type))
                        .view({-1})
                        .sort());
    const at::Tensor steps = now.narrow(0, 1, 999) - now.narrow(0, 0, 999);
    EXPECT_TRUE(steps.eq(type == at::kFloat ? 0x1p-24 : 0x1p-53).all().item<bool>());
  }
}

TEST(Pattern, SpecialsAreFewAndOfEachKind) {
  const at::Tensor now =
      changed({.seed = 1, .pattern = pattern::Specials{.numbers = kSpecials}}, at::randn({1000}));
  EXPECT_TRUE(at::isnan(now).any().item<bool>());
  EXPECT_TRUE(at::isinf(now).any().item<bool>());
  EXPECT_GT(at::isfinite(now).sum().item<std::int64_t>(), 950);
}

// A question for two numbers, as isclose is, may treat equal infinities in a way of its own.
TEST(Pattern, TwoTensorsHoldEachPairOfSpecialsAtOneIndex) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const auto tensor = [&](std::size_t nth) {
      return changed(
          {.seed = 2 * seed + nth,
           .pattern = pattern::Specials{.numbers = {1000, 2000, 3000}, .common = seed, .nth = nth}},
          at::rand({64, 32}));
    };
    const at::Tensor first = tensor(0), second = tensor(1);
    for (const double one : {1000, 2000, 3000})
      for (const double other : {1000, 2000, 3000})
        EXPECT_TRUE(first.eq(one).logical_and(second.eq(other)).any().item<bool>())
            << one << " " << other;
  }
}

TEST(Pattern, AZeroKeepsItsSign) {
  for (const at::ScalarType dtype : {at::kFloat, at::kDouble, at::kHalf, at::kBFloat16}) {
    const at::Tensor now =
        changed({.seed = 1, .pattern = pattern::Specials{.numbers = {-0.0, 0.0}, .common = 3}},
                at::ones({16, 20}, dtype));
    EXPECT_TRUE(at::signbit(now).any().item<bool>());
    EXPECT_TRUE(at::signbit(now).logical_not().logical_and(now.eq(0)).any().item<bool>());
    EXPECT_TRUE(now.ge(0).all().item<bool>());
  }
}

TEST(Pattern, AnExpandedTensorChangesByItsMemory) {
  const at::Tensor expanded = at::ones({1, 8}).expand({5, 8});
  at::Tensor memory = changeable_view(expanded);
  EXPECT_EQ(memory.numel(), 8);
  memory.mul_(2);
  EXPECT_TRUE(expanded.eq(2).all().item<bool>());
}

TEST(Pattern, FrequentNumbersTakeASixteenthOfSortedElements) {
  const at::Tensor sorted =
      changed({.seed = 1, .pattern = pattern::Sorted{.numbers = {0, 999}, .frequent = {500}}},
              at::randint(1000, {4096}, at::kLong));
  const auto count = sorted.eq(500).sum().item<std::int64_t>();
  EXPECT_GT(count, 150);
  EXPECT_LT(count, 400);
  EXPECT_TRUE(sorted.diff().ge(0).all().item<bool>());
}

}  // namespace
}  // namespace tritonsmith::gym::trial
