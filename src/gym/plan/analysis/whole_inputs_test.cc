#include "gym/plan/analysis/whole_inputs.h"

#include <gtest/gtest.h>

#include "gym/plan/testing/plan_builder.h"

namespace tritonsmith::gym::plan::analysis {
namespace {

// A task that looks rows up in a table by its input, after one operator.
Plan task_of_lookup_after(const std::string& op) {
  PlanBuilder task(PlanRole::task);
  const int places = task.tensor({6}, DType::int64), now = task.tensor({6}, DType::int64),
            table = task.tensor({5, 3}), y = task.tensor({6, 3});
  task.input(t(places))
      .aten(Phase::forward, op, {t(places)}, {now})
      .aten(Phase::forward, "aten::embedding", {t(table), t(now)}, {y})
      .returns(t(y));
  return task.plan();
}

TEST(PlacesNamed, AreThoseOfTheTableThatForwardLooksUp) {
  EXPECT_EQ(places_named_by(task_of_lookup_after("aten::clone"), 0), 5);
}

TEST(PlacesNamed, AreUnknownAfterArithmetic) {
  EXPECT_EQ(places_named_by(task_of_lookup_after("aten::neg"), 0), std::nullopt);
}

TEST(PlacesNamed, FollowTheDimension) {
  PlanBuilder task(PlanRole::task);
  const int x = task.tensor({4, 7}), places = task.tensor({4, 2}, DType::int64),
            y = task.tensor({4, 2});
  task.input(t(x)).input(t(places));
  task.aten(Phase::forward, "aten::gather", {t(x), i(-1), t(places)}, {y}).returns(t(y));
  EXPECT_EQ(places_named_by(task.plan(), places), 7);
  EXPECT_EQ(places_named_by(task.plan(), x), std::nullopt) << "the table itself names no place";
}

TEST(PlacesNamed, AreUnknownForNumbersThatForwardReturns) {
  PlanBuilder task(PlanRole::task);
  const int places = task.tensor({6}, DType::int64);
  task.input(t(places)).returns(t(places));
  EXPECT_EQ(places_named_by(task.plan(), places), std::nullopt);
}

}  // namespace
}  // namespace tritonsmith::gym::plan::analysis
