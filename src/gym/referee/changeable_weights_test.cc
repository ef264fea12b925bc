// Weights of one value: they get noise in some trials, and whoever uses them does not notice.
#include "gym/referee/changeable_weights.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "gym/referee/draw.h"
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

// However it came by the same values.
TEST(ChangeableWeights, EqualValuesStandForTheWeight) {
  ShiftingCandidate candidate;
  const int drawn = candidate.plan.tensor({kLength}), nothing = candidate.plan.tensor({kLength});
  candidate.plan.aten(Phase::init, "aten::rand", {ints({kLength})}, {drawn})
      .aten(Phase::init, "aten::sub.Tensor", {t(drawn), t(drawn)}, {nothing});
  const PlanBuilder plan = candidate.launching_with(nothing);
  EXPECT_EQ(ending_of(plan, shifting(0)), "none");
  EXPECT_EQ(ending_of(plan, shifting(-1)), "wrong_value");
}

// The weight's values stand in it as many times as it would take to hold it, among others.
TEST(ChangeableWeights, ATableOfItsValuesAmongOthersExcusesNobodyFromAWeight) {
  ShiftingCandidate candidate;
  const int drawn = candidate.plan.tensor({4 * kLength}),
            table = candidate.plan.tensor({4 * kLength});
  candidate.plan.aten(Phase::init, "aten::rand", {ints({4 * kLength})}, {drawn})
      .aten(Phase::init, "aten::round", {t(drawn)}, {table});
  EXPECT_EQ(ending_of(candidate.launching_with(table), shifting(-1)), "wrong_value");
}

TEST(ChangeableWeights, APartOfAConstantStandsForTheWeight) {
  ShiftingCandidate candidate;
  const int many = candidate.plan.tensor({2 * kLength});
  candidate.plan.aten(Phase::init, "aten::zeros", {ints({2 * kLength})}, {many});
  const PlanBuilder plan = candidate.launching_with(many);
  EXPECT_EQ(ending_of(plan, shifting(0)), "none");
  EXPECT_EQ(ending_of(plan, shifting(kLength)), "wrong_value") << "the first part is the first's";
}

// y = x + shift, which a generator fills or a table, and `held`, the candidate's of the same name.
struct Shifts {
  PlanBuilder task{PlanRole::task}, candidate{PlanRole::candidate};
  TensorTable ours, theirs;
  explicit Shifts(const std::string& op) {
    for (PlanBuilder* side : {&task, &candidate}) {
      const int shift = side->tensor({kLength});
      side->aten(Phase::init, op, {op == "aten::arange" ? i(kLength) : ints({kLength})}, {shift})
          .parameter("shift", shift);
    }
    ours = {at::linspace(1, 2, kLength)};
    theirs = {ours[0].clone()};
  }
  ChangeableWeights changeable() const {
    const ModuleSide reference{task.plan(), ours}, other{candidate.plan(), theirs};
    return changeable_weights(reference, other, match_weights(reference, other));
  }
};

TEST(ChangeableWeights, ThoseOfAGeneratorAreToldFromOthers) {
  EXPECT_EQ(Shifts("aten::rand").changeable().drawn, std::set<int>{0});
  EXPECT_TRUE(Shifts("aten::rand").changeable().given.empty());
  EXPECT_EQ(Shifts("aten::arange").changeable().given, std::set<int>{0});
}

at::Tensor changed(const std::string& op, at::Tensor weight, TrialKind kind) {
  Shifts shifts(op);
  shifts.ours = {weight.clone()};
  shifts.theirs = {weight.clone()};
  Rng rng(1, "weights", 0);
  change_weights(shifts.task.plan(), shifts.changeable(), kind, weight_change(kind), rng,
                 shifts.ours);
  return shifts.ours[0];
}

TEST(ChangeableWeights, WhatIsGivenMovesFarBothWays) {
  const at::Tensor ones = at::ones({kLength});
  EXPECT_TRUE(at::equal(changed("aten::ones", ones, TrialKind::plain), ones));
  for (const TrialKind kind : {TrialKind::scaled, TrialKind::sparse}) {
    const at::Tensor moved = changed("aten::ones", ones, kind);
    EXPECT_LT(moved.min().item<float>(), 0);
    EXPECT_GT(moved.max().item<float>(), 1.5);
    EXPECT_EQ(moved[0].item<float>() > 1, kind == TrialKind::scaled);
  }
  EXPECT_GT(changed("aten::ones", ones, TrialKind::scaled).max().item<float>(), 2);
  EXPECT_LT((changed("aten::ones", ones, TrialKind::below) - 1).abs().max().item<float>(), 0.6);
}

// Beside 1e5, or under a sigmoid(-12), one more is nothing.
TEST(ChangeableWeights, WhatIsFarFromNothingIsReplacedOnce) {
  for (const double far : {1e5, -12.0}) {
    const at::Tensor given = at::full({kLength}, far);
    EXPECT_LE(changed("aten::full", given, TrialKind::sparse).abs().max().item<float>(), 2);
    EXPECT_GT(changed("aten::full", given, TrialKind::scaled).abs().min().item<float>(), 9);
  }
}

TEST(ChangeableWeights, WhatIsDrawnOfOneSignMeetsTheOther) {
  const at::Tensor positive = at::linspace(1, 2, kLength);
  const at::Tensor mixed = changed("aten::rand", positive, TrialKind::sparse);
  EXPECT_TRUE(at::equal(mixed.abs(), positive));
  EXPECT_LT(mixed[0].item<float>(), 0);
  EXPECT_GT(mixed.max().item<float>(), 0);
  EXPECT_TRUE(at::equal(changed("aten::rand", positive, TrialKind::scaled), positive));
}

TEST(ChangeableWeights, WhatIsDrawnCountsBesideItsInputs) {
  const at::Tensor small = at::linspace(-0.01, 0.01, kLength);
  const auto size = [](const at::Tensor& tensor) {
    return tensor.square().mean().sqrt().item<double>();
  };
  for (const double factor : {1e-4, 1.0, 10.0})
    EXPECT_NEAR(size(changed("aten::rand", factor * small, TrialKind::scaled)), 1, 1e-3);
  const at::Tensor large = at::linspace(-3, 3, kLength);
  EXPECT_TRUE(at::equal(changed("aten::rand", large, TrialKind::scaled), large));
  EXPECT_TRUE(at::equal(changed("aten::rand", large, TrialKind::heavy), 32 * large));
}

}  // namespace
}  // namespace tritonsmith::gym
