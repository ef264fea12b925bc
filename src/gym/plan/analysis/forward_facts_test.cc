#include "gym/plan/analysis/forward_facts.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "gym/plan/testing/plan_builder.h"

namespace tritonsmith::gym::plan::analysis {
namespace {

// A task that takes the two largest of each row, and returns them or their indices.
Plan task_of_topk(bool returns_indices) {
  PlanBuilder task(PlanRole::task);
  const int x = task.tensor({4, 8}), values = task.tensor({4, 2}),
            indices = task.tensor({4, 2}, DType::int64);
  task.input(t(x))
      .aten(Phase::forward, "aten::topk", {t(x), i(2)}, {values, indices})
      .returns(t(returns_indices ? indices : values));
  return task.plan();
}

TEST(ForwardFacts, IndicesThatNobodyReadsAreNotGiven) {
  EXPECT_TRUE(forward_facts(task_of_topk(true)).gives_indices);
  EXPECT_TRUE(forward_facts(task_of_topk(true)).gives_ordered_indices);
  EXPECT_FALSE(forward_facts(task_of_topk(false)).gives_indices);
}

TEST(ForwardFacts, AStableSortPromisesTheOrderOfEqualNumbers) {
  const auto facts_of_sort = [](bool is_stable) {
    PlanBuilder task(PlanRole::task);
    const int x = task.tensor({4, 8}), values = task.tensor({4, 8}),
              indices = task.tensor({4, 8}, DType::int64);
    task.input(t(x))
        .aten(Phase::forward, "aten::sort.stable", {t(x)}, {values, indices},
              {{"stable", Value{is_stable}}})
        .returns(t(indices));
    return forward_facts(task.plan());
  };
  EXPECT_TRUE(facts_of_sort(true).jumps_as_given);
  EXPECT_FALSE(facts_of_sort(true).gives_unordered_indices);
  EXPECT_FALSE(facts_of_sort(true).gives_ordered_indices);
  EXPECT_FALSE(facts_of_sort(false).jumps_as_given);
  EXPECT_TRUE(facts_of_sort(false).gives_ordered_indices);
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

TEST(ForwardFacts, OneNumberOfAWholeTensorIsAStatistic) {
  const auto reduced = [](const std::string& op, std::int64_t rows_of_result) {
    PlanBuilder task(PlanRole::task);
    const int x = task.tensor({4, 8}), y = task.tensor({rows_of_result});
    task.input(t(x)).aten(Phase::forward, op, {t(x)}, {y}).returns(t(y));
    return forward_facts(task.plan()).reduced_whole;
  };
  EXPECT_EQ(reduced("aten::max", 1), 32);
  EXPECT_EQ(reduced("aten::amax", 4), 0);
  EXPECT_EQ(reduced("aten::select.int", 1), 0) << "a view is no statistic";
}

TEST(ForwardFacts, TheBoundsOfAHistogramAreMet) {
  PlanBuilder task(PlanRole::task);
  const int x = task.tensor({40}), y = task.tensor({8});
  task.input(t(x))
      .aten(Phase::forward, "aten::histc", {t(x), i(8), f(-1.25), f(3)}, {y})
      .returns(t(y));
  const ForwardFacts facts = forward_facts(task.plan());
  EXPECT_TRUE(facts.jumps_at_halves);
  EXPECT_EQ(facts.meeting_numbers, (std::vector<double>{-1.25, 3}));
}

TEST(ForwardFacts, ARangeThatHalvesMissIsMetBetweenItsBounds) {
  PlanBuilder task(PlanRole::task);
  const int x = task.tensor({40}), above = task.tensor({40}, DType::boolean),
            below = task.tensor({40}, DType::boolean);
  task.input(t(x))
      .aten(Phase::forward, "aten::gt.Scalar", {t(x), f(0.6)}, {above})
      .aten(Phase::forward, "aten::lt.Scalar", {t(x), f(0.602)}, {below})
      .returns(t(above))
      .returns(t(below));
  const std::vector<double> met = forward_facts(task.plan()).meeting_numbers;
  EXPECT_TRUE(
      std::ranges::any_of(met, [](double number) { return 0.6 < number && number < 0.602; }));
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
