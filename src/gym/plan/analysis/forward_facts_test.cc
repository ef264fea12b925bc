#include "gym/plan/analysis/forward_facts.h"

#include <gtest/gtest.h>

#include "gym/plan/testing/plan_builder.h"

namespace tritonsmith::gym::plan::analysis {
namespace {

// A task that takes the two largest of each row, and returns them or their places.
Plan task_of_topk(bool returns_places) {
  PlanBuilder task(PlanRole::task);
  const int x = task.tensor({4, 8}), values = task.tensor({4, 2}),
            places = task.tensor({4, 2}, DType::int64);
  task.input(t(x))
      .aten(Phase::forward, "aten::topk", {t(x), i(2)}, {values, places})
      .returns(t(returns_places ? places : values));
  return task.plan();
}

TEST(ForwardFacts, PlacesThatNobodyReadsAreNotGiven) {
  EXPECT_TRUE(forward_facts(task_of_topk(true)).gives_places);
  EXPECT_TRUE(forward_facts(task_of_topk(true)).gives_ordered_places);
  EXPECT_FALSE(forward_facts(task_of_topk(false)).gives_places);
}

// Whether all of a row hold, after these two operators on the input.
ForwardFacts facts_of_all_after(const std::string& first, const std::string& then) {
  PlanBuilder task(PlanRole::task);
  const int x = task.tensor({4, 8}), y = task.tensor({4, 8}),
            truth = task.tensor({4, 8}, DType::boolean), all = task.tensor({4}, DType::boolean);
  task.input(t(x))
      .aten(Phase::forward, first, {t(x), i(1)}, {y})
      .aten(Phase::forward, then, {t(y), i(0)}, {truth})
      .aten(Phase::forward, "aten::all.dim", {t(truth), i(1)}, {all})
      .returns(t(all));
  return forward_facts(task.plan());
}

TEST(ForwardFacts, TruthValuesThatFollowFromSingleElementsAreAskedFor) {
  const ForwardFacts facts = facts_of_all_after("aten::remainder.Scalar", "aten::eq.Scalar");
  EXPECT_TRUE(facts.asks_any_or_all_compared);
  EXPECT_EQ(facts.asked_dimension, 1);
  EXPECT_FALSE(facts_of_all_after("aten::cumsum", "aten::eq.Scalar").asks_any_or_all_compared);
}

TEST(ForwardFacts, ACastOf32BitsTo16IsOneOfNoOtherType) {
  for (const DType dtype : {DType::float16, DType::bfloat16, DType::float64}) {
    PlanBuilder task(PlanRole::task);
    const int x = task.tensor({4}), y = task.tensor({4}, dtype);
    task.input(t(x)).aten(Phase::forward, "aten::_to_copy", {t(x)}, {y}).returns(t(y));
    EXPECT_EQ(forward_facts(task.plan()).casts_to_16_bits, dtype != DType::float64);
  }
}

}  // namespace
}  // namespace tritonsmith::gym::plan::analysis
