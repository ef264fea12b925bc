#include "gym/plan/analysis/reduced_bounds.h"

#include <gtest/gtest.h>

#include "gym/plan/testing/plan_builder.h"

namespace tritonsmith::gym::plan::analysis {
namespace {

// The task takes the root of a sum of squares, and then one more operator's result is compared.
std::vector<double> bounds_of_norms(const std::string& op, const std::vector<Value>& more,
                                    double bound) {
  PlanBuilder task(PlanRole::task);
  const int x = task.tensor({4, 8}), squares = task.tensor({4, 8}), sums = task.tensor({4}),
            norms = task.tensor({4}), y = task.tensor({4}), clamped = task.tensor({4});
  std::vector<Value> arguments = {t(norms)};
  arguments.insert(arguments.end(), more.begin(), more.end());
  task.input(t(x))
      .aten(Phase::forward, "aten::pow.Tensor_Scalar", {t(x), i(2)}, {squares})
      .aten(Phase::forward, "aten::sum.dim_IntList", {t(squares), ints({1})}, {sums})
      .aten(Phase::forward, "aten::sqrt", {t(sums)}, {norms})
      .aten(Phase::forward, op, arguments, {y})
      .aten(Phase::forward, "aten::clamp", {t(y), Value{None{}}, f(bound)}, {clamped})
      .returns(t(clamped));
  return reduced_bounds(task.plan());
}

TEST(ReducedBounds, ANumberIsFoundBehindTheArithmeticOfTheReduction) {
  EXPECT_EQ(bounds_of_norms("aten::add.Tensor", {f(1e-6)}, 5000), std::vector<double>{5000});
  EXPECT_EQ(bounds_of_norms("aten::mul.Tensor", {f(0.5)}, 5000), std::vector<double>{10000});
  EXPECT_EQ(bounds_of_norms("aten::pow.Tensor_Scalar", {i(2)}, 10000), std::vector<double>{100});
  EXPECT_EQ(bounds_of_norms("aten::reciprocal", {}, 1.0 / 64), std::vector<double>{64});
}

TEST(ReducedBounds, NumbersThatDrawsReachAreLeftOut) {
  EXPECT_TRUE(bounds_of_norms("aten::add.Tensor", {f(1e-6)}, 3).empty());
}

TEST(ReducedBounds, ElementsThatNothingReducesHaveNone) {
  PlanBuilder task(PlanRole::task);
  const int x = task.tensor({4}), y = task.tensor({4});
  task.input(t(x))
      .aten(Phase::forward, "aten::clamp", {t(x), f(-5000), f(5000)}, {y})
      .returns(t(y));
  EXPECT_TRUE(reduced_bounds(task.plan()).empty());
}

TEST(ReducedBounds, ARenormReducesByItself) {
  PlanBuilder task(PlanRole::task);
  const int x = task.tensor({4, 8}), y = task.tensor({4, 8});
  task.input(t(x))
      .aten(Phase::forward, "aten::renorm", {t(x), f(2), i(0), f(8000)}, {y})
      .returns(t(y));
  EXPECT_EQ(reduced_bounds(task.plan()), std::vector<double>{8000});
}

}  // namespace
}  // namespace tritonsmith::gym::plan::analysis
