#include "gym/plan/analysis/whole_inputs.h"

#include <gtest/gtest.h>

#include "gym/plan/testing/plan_builder.h"

namespace tritonsmith::gym::plan::analysis {
namespace {

// A task that looks rows up in a table by its input, after one operator.
Plan task_of_lookup_after(const std::string& op) {
  PlanBuilder task(PlanRole::task);
  const int indices = task.tensor({6}, DType::int64), now = task.tensor({6}, DType::int64),
            table = task.tensor({5, 3}), y = task.tensor({6, 3});
  task.input(t(indices))
      .aten(Phase::forward, op, {t(indices)}, {now})
      .aten(Phase::forward, "aten::embedding", {t(table), t(now)}, {y})
      .returns(t(y));
  return task.plan();
}

TEST(IndicesNamed, AreThoseOfTheTableThatForwardLooksUp) {
  EXPECT_EQ(indices_named_by(task_of_lookup_after("aten::clone"), 0), 5);
}

TEST(IndicesNamed, AreUnknownAfterArithmetic) {
  EXPECT_EQ(indices_named_by(task_of_lookup_after("aten::neg"), 0), std::nullopt);
}

TEST(IndicesNamed, FollowTheDimension) {
  PlanBuilder task(PlanRole::task);
  const int x = task.tensor({4, 7}), indices = task.tensor({4, 2}, DType::int64),
            y = task.tensor({4, 2});
  task.input(t(x)).input(t(indices));
  task.aten(Phase::forward, "aten::gather", {t(x), i(-1), t(indices)}, {y}).returns(t(y));
  EXPECT_EQ(indices_named_by(task.plan(), indices), 7);
  EXPECT_EQ(indices_named_by(task.plan(), x), std::nullopt) << "the table itself names no index";
}

TEST(IndicesNamed, AreUnknownForNumbersThatForwardReturns) {
  PlanBuilder task(PlanRole::task);
  const int indices = task.tensor({6}, DType::int64);
  task.input(t(indices)).returns(t(indices));
  EXPECT_EQ(indices_named_by(task.plan(), indices), std::nullopt);
}

}  // namespace
}  // namespace tritonsmith::gym::plan::analysis
