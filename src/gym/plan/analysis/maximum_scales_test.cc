#include "gym/plan/analysis/maximum_scales.h"

#include <gtest/gtest.h>

#include "gym/plan/analysis/forward_facts.h"
#include "gym/plan/testing/plan_builder.h"

namespace tritonsmith::gym::plan::analysis {
namespace {

// A task that rounds its input of 6 x 64 elements by rows or groups.
struct Quantisation {
  PlanBuilder task{PlanRole::task};
  int x = task.tensor({6, 64});

  Quantisation() { task.input(t(x)); }
  int then(const std::string& op, std::vector<Value> args, std::vector<std::int64_t> shape) {
    const int made = task.tensor(std::move(shape));
    task.aten(Phase::forward, "aten::" + op, std::move(args), {made});
    return made;
  }
  // Returns the largest sizes along the last dimension.
  int maxima(int of, std::vector<std::int64_t> shape, std::int64_t rows) {
    const int sizes = then("abs", {t(of)}, std::move(shape));
    return then("amax", {t(sizes), ints({-1}), Value{true}}, {rows, 1});
  }
  std::vector<MaximumScale> found_after_rounding(int quotient) {
    const int rounded = then("round", {t(quotient)}, {6, 64});
    task.returns(t(rounded));
    return forward_facts(task.plan()).maximum_scales;
  }
};

TEST(MaximumScales, FindsADivisionByAShareOfTheLargestSize) {
  Quantisation of;
  const int bounded = of.then("clamp", {t(of.maxima(of.x, {6, 64}, 6)), f(1e-8)}, {6, 1});
  const int scale = of.then("div.Tensor", {t(bounded), i(127)}, {6, 1});
  const int quotient = of.then("div.Tensor", {t(of.x), t(scale)}, {6, 64});
  EXPECT_EQ(
      of.found_after_rounding(quotient),
      (std::vector<MaximumScale>{{.input = of.x, .number = 127, .shape = {6, 64}, .dim = -1}}));
}

TEST(MaximumScales, FindsAProductWithTheInverseOfAGroup) {
  Quantisation of;
  const int groups = of.then("view", {t(of.x), ints({24, 16})}, {24, 16});
  const int inverse = of.then("reciprocal", {t(of.maxima(groups, {24, 16}, 24))}, {24, 1});
  const int scale = of.then("mul.Tensor", {t(inverse), i(7)}, {24, 1});
  const int quotient = of.then("mul.Tensor", {t(groups), t(scale)}, {24, 16});
  EXPECT_EQ(
      of.found_after_rounding(quotient),
      (std::vector<MaximumScale>{{.input = of.x, .number = 7, .shape = {24, 16}, .dim = -1}}));
}

TEST(MaximumScales, AnEpsilonBesideTheScaleMakesNoTies) {
  Quantisation of;
  const int scale = of.then("div.Tensor", {t(of.maxima(of.x, {6, 64}, 6)), i(127)}, {6, 1});
  const int beside = of.then("add.Tensor", {t(scale), f(1e-6)}, {6, 1});
  const int quotient = of.then("div.Tensor", {t(of.x), t(beside)}, {6, 64});
  EXPECT_TRUE(of.found_after_rounding(quotient).empty());
}

TEST(MaximumScales, AnotherInputsMaximumIsNone) {
  Quantisation of;
  const int other = of.task.tensor({6, 64});
  of.task.input(t(other));
  const int scale = of.then("div.Tensor", {t(of.maxima(other, {6, 64}, 6)), i(127)}, {6, 1});
  const int quotient = of.then("div.Tensor", {t(of.x), t(scale)}, {6, 64});
  EXPECT_TRUE(of.found_after_rounding(quotient).empty());
}

}  // namespace
}  // namespace tritonsmith::gym::plan::analysis
