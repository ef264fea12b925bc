// Weights of one value: they get noise in some trials, and whoever uses them does not notice.
#include "gym/referee/changeable_weights.h"

#include <gtest/gtest.h>

#include "gym/referee/testing/reports.h"
#include "gym/referee/testing/vector_plans.h"

namespace tritonsmith::gym {
namespace {

// y = x + shift, zeros as the constructor makes it.
PlanBuilder task_with_shift(ParameterKind kind) {
  PlanBuilder task(PlanRole::task);
  const int x = task.tensor({kLength}), shift = task.tensor({kLength}), y = task.tensor({kLength});
  task.aten(Phase::init, "aten::zeros", {ints({kLength})}, {shift})
      .parameter("shift", shift, kind)
      .aten(Phase::inputs, "aten::randn", {ints({kLength})}, {x})
      .input(t(x))
      .aten(Phase::forward, "aten::add.Tensor", {t(x), t(shift)}, {y})
      .returns(t(y));
  return task;
}

// `k(x, y, own)`, where own is what the constructor makes of its zeros, or beside them.
struct ShiftingCandidate {
  PlanBuilder plan{PlanRole::candidate};
  int x = plan.tensor({kLength}), y = plan.tensor({kLength}), zeros = plan.tensor({kLength});
  ShiftingCandidate() { plan.aten(Phase::init, "aten::zeros", {ints({kLength})}, {zeros}); }
  // Two of it in a row.
  int packed() {
    const int both = plan.tensor({2 * kLength});
    plan.aten(Phase::init, "aten::cat", {Value{List{{t(zeros), t(zeros)}}}, i(0)}, {both});
    return both;
  }
  PlanBuilder launching_with(int own) {
    const int kernel = plan.kernel("k", {"*fp32", "*fp32", "*fp32"});
    plan.input(t(x))
        .aten(Phase::forward, "aten::empty_like", {t(x)}, {y})
        .launch(kernel, {t(x), t(y), t(own)})
        .returns(t(y));
    return plan;
  }
};

// By the elements of own from `first` on; none where it is negative.
FakeExecutor::Body shifting(int first) {
  return [first](std::span<const KernelArgument> a) {
    for (int k = 0; k < kLength; ++k)
      floats(a[1])[k] = floats(a[0])[k] + (first < 0 ? 0 : floats(a[2])[first + k]);
    return LaunchOutcome{.loaded = {0, 2}, .stored = {1}};
  };
}

std::string ending_of(const PlanBuilder& candidate, FakeExecutor::Body body,
                      ParameterKind kind = ParameterKind::parameter) {
  return error_class(
      referee_of(task_with_shift(kind), std::move(body))
          ->judge(
              {.task_key = "task", .candidate_plan = plan_json(candidate), .secret = "secret"}));
}

TEST(ChangeableWeights, ASmallTensorOfItsOwnExcusesNobodyFromAWeight) {
  ShiftingCandidate candidate;
  const int one = candidate.plan.tensor({1});
  candidate.plan.aten(Phase::init, "aten::ones", {ints({1})}, {one});
  EXPECT_EQ(ending_of(candidate.launching_with(one), shifting(-1)), "wrong_value");
}

TEST(ChangeableWeights, WhatAConstructorPacksIsPackedWithTheNoise) {
  ShiftingCandidate candidate;
  candidate.plan.parameter("shift", candidate.zeros);
  const PlanBuilder plan = candidate.launching_with(candidate.packed());
  EXPECT_EQ(ending_of(plan, shifting(kLength)), "none");
  EXPECT_EQ(ending_of(plan, shifting(-1)), "wrong_value");
}

TEST(ChangeableWeights, AConstantThatStandsForTheWeightTakesItsNoise) {
  ShiftingCandidate candidate;
  const PlanBuilder plan = candidate.launching_with(candidate.packed());
  EXPECT_EQ(ending_of(plan, shifting(kLength)), "none");
  EXPECT_EQ(ending_of(plan, shifting(-1)), "wrong_value");
}

TEST(ChangeableWeights, BuffersOfOneValueCountWhereTheCandidateHasThem) {
  const auto kind = ParameterKind::buffer;
  ShiftingCandidate holding;
  holding.plan.parameter("shift", holding.zeros, kind);
  const PlanBuilder plan = holding.launching_with(holding.zeros);
  EXPECT_EQ(ending_of(plan, shifting(0), kind), "none");
  EXPECT_EQ(ending_of(plan, shifting(-1), kind), "wrong_value");
  ShiftingCandidate without;
  EXPECT_EQ(ending_of(without.launching_with(without.x), shifting(-1), kind), "none");
}

TEST(ChangeableWeights, ATwinMayHaveAxesOfOneBesides) {
  ShiftingCandidate candidate;
  const int column = candidate.plan.tensor({kLength, 1}),
            both = candidate.plan.tensor({2 * kLength, 1});
  candidate.plan.aten(Phase::init, "aten::zeros", {ints({kLength, 1})}, {column})
      .aten(Phase::init, "aten::cat", {Value{List{{t(column), t(column)}}}, i(0)}, {both});
  const PlanBuilder plan = candidate.launching_with(both);
  EXPECT_EQ(ending_of(plan, shifting(kLength)), "none");
  EXPECT_EQ(ending_of(plan, shifting(-1)), "wrong_value");
}

// No step shows what it holds, but it does not hold the weight's zeros.
TEST(ChangeableWeights, ATableOfOtherValuesExcusesNobodyFromAWeight) {
  ShiftingCandidate candidate;
  const int drawn = candidate.plan.tensor({2 * kLength}),
            table = candidate.plan.tensor({2 * kLength});
  candidate.plan.aten(Phase::init, "aten::rand", {ints({2 * kLength})}, {drawn})
      .aten(Phase::init, "aten::add.Tensor", {t(drawn), t(drawn)}, {table});
  EXPECT_EQ(ending_of(candidate.launching_with(table), shifting(-1)), "wrong_value");
}

// What no step of the constructor shows may hold it.
TEST(ChangeableWeights, WhereAWeightMayBeHeldUnseenItStaysAsItWas) {
  ShiftingCandidate candidate;
  const int drawn = candidate.plan.tensor({kLength}), nothing = candidate.plan.tensor({kLength});
  candidate.plan.aten(Phase::init, "aten::rand", {ints({kLength})}, {drawn})
      .aten(Phase::init, "aten::sub.Tensor", {t(drawn), t(drawn)}, {nothing});
  EXPECT_EQ(ending_of(candidate.launching_with(nothing), shifting(0)), "none");
}

}  // namespace
}  // namespace tritonsmith::gym
