#include "gym/plan/analysis/epsilons.h"

#include <gtest/gtest.h>

#include <limits>

#include "gym/plan/analysis/named_epsilons.h"
#include "gym/plan/testing/plan_builder.h"

namespace tritonsmith::gym::plan::analysis {
namespace {

Plan task_of(const std::string& op, const std::vector<Value>& more) {
  PlanBuilder task(PlanRole::task);
  const int x = task.tensor({4, 8}), y = task.tensor({4, 8});
  std::vector<Value> arguments = {t(x)};
  arguments.insert(arguments.end(), more.begin(), more.end());
  task.input(t(x)).aten(Phase::forward, op, arguments, {y}).returns(t(y));
  return task.plan();
}

using All = std::vector<Epsilon>;

TEST(Epsilons, ANormHasOneBesideSquaresAndASumMayHaveOneBesideElements) {
  EXPECT_EQ(epsilons(task_of("aten::native_layer_norm",
                             {ints({8}), Value{None{}}, Value{None{}}, f(1e-6)})),
            (All{{1e-6, false}}));
  EXPECT_EQ(epsilons(task_of("aten::add.Tensor", {f(1e-8)})), (All{{1e-8, true}}));
  EXPECT_EQ(epsilons(task_of("aten::clamp_min", {f(1e-12)})), (All{{1e-12, true}}));
}

// As PyTorch's cosine of two vectors keeps their norms from zero.
TEST(Epsilons, ANumberInATensorCounts) {
  PlanBuilder task(PlanRole::task);
  const int x = task.tensor({4, 8}), least = task.tensor({}), y = task.tensor({4, 8});
  task.input(t(x))
      .aten(Phase::forward, "aten::scalar_tensor", {f(1e-6)}, {least})
      .aten(Phase::forward, "aten::clamp_min_.Tensor", {t(x), t(least)}, {y})
      .returns(t(y));
  EXPECT_EQ(epsilons(task.plan()), (All{{1e-6, true}}));
}

TEST(Epsilons, ANormWithoutANumberTakesItFromItsType) {
  const double of_type = std::numeric_limits<float>::epsilon();
  for (const auto& [op, more] : std::vector<std::pair<std::string, std::vector<Value>>>{
           {"aten::rms_norm", {ints({8}), Value{None{}}, Value{None{}}}},
           {"aten::_fused_rms_norm", {ints({8}), Value{None{}}}}}) {
    const Plan named = with_named_epsilons(task_of(op, more));
    EXPECT_EQ(epsilons(named), (All{{of_type, false}})) << op;
    EXPECT_EQ(with_named_epsilons(named), named) << op;
  }
}

TEST(Epsilons, LargeNumbersFactorsAndNumbersBelowZeroAreNone) {
  EXPECT_TRUE(epsilons(task_of("aten::add.Tensor", {f(0.5)})).empty());
  EXPECT_TRUE(epsilons(task_of("aten::add.Tensor", {f(-1e-5)})).empty());
  EXPECT_TRUE(epsilons(task_of("aten::mul.Tensor", {f(1e-3)})).empty());
}

}  // namespace
}  // namespace tritonsmith::gym::plan::analysis
