#include "gym/plan/analysis/returned_changes.h"

#include <gtest/gtest.h>

#include "gym/plan/testing/plan_builder.h"

namespace tritonsmith::gym::plan::analysis {
namespace {

Plan plan_that_writes(PlanRole role, bool returns) {
  PlanBuilder plan(role);
  const int cache = plan.tensor({8}), value = plan.tensor({8});
  plan.input(t(cache)).input(t(value)).aten(Phase::forward, "aten::copy_", {t(cache), t(value)},
                                            {cache});
  if (returns) plan.returns(t(value));
  return plan.plan();
}

TEST(ReturnedChanges, AreTheInputsThatForwardWrites) {
  const auto both = with_changes_returned(plan_that_writes(PlanRole::task, false),
                                          plan_that_writes(PlanRole::candidate, false));
  ASSERT_TRUE(both);
  for (const Plan& plan : {both->first, both->second}) {
    std::vector<int> outputs;
    append_tensors(plan.outputs, outputs);
    EXPECT_EQ(outputs, std::vector<int>{0});
  }
}

TEST(ReturnedChanges, AreNoneIfOneSideReturnsATensor) {
  EXPECT_FALSE(with_changes_returned(plan_that_writes(PlanRole::task, true),
                                     plan_that_writes(PlanRole::candidate, false)));
  EXPECT_FALSE(with_changes_returned(plan_that_writes(PlanRole::task, false),
                                     plan_that_writes(PlanRole::candidate, true)));
}

}  // namespace
}  // namespace tritonsmith::gym::plan::analysis
