#include "gym/plan/analysis/final_scale.h"

#include <gtest/gtest.h>

#include "gym/plan/testing/plan_builder.h"

namespace tritonsmith::gym::plan::analysis {
namespace {

struct Step {
  std::string op;
  std::vector<Value> more;
};

// Returns the final scale of a forward that takes these steps one after the other.
double scale_after(const std::vector<Step>& steps) {
  PlanBuilder task(PlanRole::task);
  int last = task.tensor({4, 8});
  task.input(t(last));
  for (const Step& step : steps) {
    std::vector<Value> arguments = {t(last)};
    arguments.insert(arguments.end(), step.more.begin(), step.more.end());
    last = task.tensor({4, 8});
    task.aten(Phase::forward, step.op, arguments, {last});
  }
  return final_scale(task.returns(t(last)).plan());
}

TEST(FinalScale, IsTheProductOfTheLastNumbers) {
  const Step exp{"aten::exp", {}}, tenth{"aten::mul.Tensor", {f(-0.1)}},
      by_eight{"aten::div.Tensor", {i(8)}}, view{"aten::view", {ints({4, 8})}};
  EXPECT_DOUBLE_EQ(scale_after({exp, tenth, view, by_eight}), 0.1 / 8);
  EXPECT_DOUBLE_EQ(scale_after({tenth, exp}), 1) << "an exponential changes sizes";
  EXPECT_DOUBLE_EQ(scale_after({exp, {"aten::add.Tensor", {f(1)}}, tenth}), 0.1);
  EXPECT_DOUBLE_EQ(scale_after({tenth, {"aten::add.Tensor", {f(1)}}}), 1);
}

TEST(FinalScale, NeverRaisesAFloor) {
  EXPECT_DOUBLE_EQ(scale_after({{"aten::mul.Tensor", {f(1000)}}}), 1);
  EXPECT_DOUBLE_EQ(scale_after({{"aten::mul.Tensor", {f(0)}}}), 1);
}

TEST(FinalScale, IsTheLargestOfSeveralOutputs) {
  PlanBuilder task(PlanRole::task);
  const int x = task.tensor({8}), y = task.tensor({8}), z = task.tensor({8});
  task.input(t(x))
      .aten(Phase::forward, "aten::mul.Tensor", {t(x), f(0.5)}, {y})
      .aten(Phase::forward, "aten::mul.Tensor", {t(x), f(0.25)}, {z})
      .returns(Value{List{{t(y), t(z)}}});
  EXPECT_DOUBLE_EQ(final_scale(task.plan()), 0.5);
}

}  // namespace
}  // namespace tritonsmith::gym::plan::analysis
