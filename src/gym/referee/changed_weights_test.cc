// Tests weights of one value. Some trials change them, and a candidate that uses the
// weight stays right.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "gym/language/testing/vector_plans.h"
#include "gym/referee/testing/reports.h"
#include "gym/trial/weights/changeable_weights.h"
#include "gym/trial/weights/weight_changes.h"

namespace tritonsmith::gym::referee {
namespace {

// The task is y = x + shift, and its constructor fills shift with zeros.
plan::PlanBuilder task_with_shift(plan::ParameterKind kind) {
  plan::PlanBuilder task(plan::PlanRole::task);
  const int x = task.tensor({language::kLength}), shift = task.tensor({language::kLength}),
            y = task.tensor({language::kLength});
  task.aten(plan::Phase::init, "aten::zeros", {plan::ints({language::kLength})}, {shift})
      .parameter("shift", shift, kind)
      .aten(plan::Phase::inputs, "aten::randn", {plan::ints({language::kLength})}, {x})
      .input(plan::t(x))
      .aten(plan::Phase::forward, "aten::add.Tensor", {plan::t(x), plan::t(shift)}, {y})
      .returns(plan::t(y));
  return task;
}

// The candidate launches `k(x, y, own)`. Its constructor makes `own` from its zeros, or beside
// them.
struct ShiftingCandidate {
  plan::PlanBuilder plan{plan::PlanRole::candidate};
  int x = plan.tensor({language::kLength}), y = plan.tensor({language::kLength}),
      zeros = plan.tensor({language::kLength});
  ShiftingCandidate() {
    plan.aten(plan::Phase::init, "aten::zeros", {plan::ints({language::kLength})}, {zeros});
  }
  // Concatenates two copies of the weight.
  int packed() {
    const int both = plan.tensor({2 * language::kLength});
    plan.aten(plan::Phase::init, "aten::cat",
              {plan::Value{plan::List{{plan::t(zeros), plan::t(zeros)}}}, plan::i(0)}, {both});
    return both;
  }
  plan::PlanBuilder launching_with(int own) {
    const int kernel = plan.kernel("k", {"*fp32", "*fp32", "*fp32"});
    plan.input(plan::t(x))
        .aten(plan::Phase::forward, "aten::empty_like", {plan::t(x)}, {y})
        .launch(kernel, {plan::t(x), plan::t(y), plan::t(own)})
        .returns(plan::t(y));
    return plan;
  }
};

// Shifts x by the elements of `own` from `first` on, or by nothing if `first` is negative.
language::FakeExecutor::Body shifting(int first) {
  return [first](std::span<const language::KernelArgument> a) {
    for (int k = 0; k < language::kLength; ++k)
      language::floats(a[1])[k] =
          language::floats(a[0])[k] + (first < 0 ? 0 : language::floats(a[2])[first + k]);
    return language::LaunchOutcome{.loaded = {0, 2}, .stored = {1}};
  };
}

std::string ending_of(const plan::PlanBuilder& candidate, language::FakeExecutor::Body body,
                      plan::ParameterKind kind = plan::ParameterKind::parameter) {
  return error_class(
      referee_of(task_with_shift(kind), std::move(body))
          ->judge(
              {.task_key = "task", .candidate_plan = plan_json(candidate), .secret = "secret"}));
}

TEST(ChangeableWeights, ASmallTensorOfItsOwnExcusesNobodyFromAWeight) {
  ShiftingCandidate candidate;
  const int one = candidate.plan.tensor({1});
  candidate.plan.aten(plan::Phase::init, "aten::ones", {plan::ints({1})}, {one});
  EXPECT_EQ(ending_of(candidate.launching_with(one), shifting(-1)), "wrong_value");
}

TEST(ChangeableWeights, WhatAConstructorPacksIsPackedWithTheNoise) {
  ShiftingCandidate candidate;
  candidate.plan.parameter("shift", candidate.zeros);
  const plan::PlanBuilder plan = candidate.launching_with(candidate.packed());
  EXPECT_EQ(ending_of(plan, shifting(language::kLength)), "none");
  EXPECT_EQ(ending_of(plan, shifting(-1)), "wrong_value");
}

TEST(ChangeableWeights, AConstantThatStandsForTheWeightTakesItsNoise) {
  ShiftingCandidate candidate;
  const plan::PlanBuilder plan = candidate.launching_with(candidate.packed());
  EXPECT_EQ(ending_of(plan, shifting(language::kLength)), "none");
  EXPECT_EQ(ending_of(plan, shifting(-1)), "wrong_value");
}

TEST(ChangeableWeights, BuffersOfOneValueCountWhetherTheCandidateHasThemOrNot) {
  const auto kind = plan::ParameterKind::buffer;
  ShiftingCandidate holding;
  holding.plan.parameter("shift", holding.zeros, kind);
  const plan::PlanBuilder plan = holding.launching_with(holding.zeros);
  EXPECT_EQ(ending_of(plan, shifting(0), kind), "none");
  EXPECT_EQ(ending_of(plan, shifting(-1), kind), "wrong_value");
  ShiftingCandidate without;
  EXPECT_EQ(ending_of(without.launching_with(without.x), shifting(-1), kind), "wrong_value");
}

// The task is y = x * scale, with a scale of one number. The candidate has the buffer or lacks it.
std::string ending_with_scale(bool has_buffer, bool reads_buffer) {
  plan::PlanBuilder task(plan::PlanRole::task), candidate(plan::PlanRole::candidate);
  for (plan::PlanBuilder* side : {&task, &candidate}) {
    const int x = side->tensor({language::kLength}), y = side->tensor({language::kLength}),
              scale = side->tensor({});
    side->aten(plan::Phase::init, "aten::ones", {plan::ints({})}, {scale});
    if (side == &task || has_buffer) side->parameter("scale", scale, plan::ParameterKind::buffer);
    if (side == &task)
      side->aten(plan::Phase::inputs, "aten::randn", {plan::ints({language::kLength})}, {x});
    side->input(plan::t(x));
    if (side == &task)
      side->aten(plan::Phase::forward, "aten::mul.Tensor", {plan::t(x), plan::t(scale)}, {y});
    else
      side->aten(plan::Phase::forward, "aten::empty_like", {plan::t(x)}, {y})
          .launch(side->kernel("k", {"*fp32", "*fp32", "*fp32"}),
                  {plan::t(x), plan::t(y), plan::t(scale)});
    side->returns(plan::t(y));
  }
  const auto body = [reads_buffer](std::span<const language::KernelArgument> a) {
    for (int k = 0; k < language::kLength; ++k)
      language::floats(a[1])[k] =
          language::floats(a[0])[k] * (reads_buffer ? language::floats(a[2])[0] : 1.0F);
    return language::LaunchOutcome{.loaded = {0, 2}, .stored = {1}};
  };
  return error_class(
      referee_of(task, body)
          ->judge(
              {.task_key = "task", .candidate_plan = plan_json(candidate), .secret = "secret"}));
}

TEST(ChangeableWeights, ABufferOfOneNumberCountsIfTheCandidateHasIt) {
  EXPECT_EQ(ending_with_scale(true, true), "none");
  EXPECT_EQ(ending_with_scale(true, false), "wrong_value");
  EXPECT_EQ(ending_with_scale(false, false), "none") << "its code may hold the number";
}

TEST(ChangeableWeights, ATwinMayHaveAxesOfOneBesides) {
  ShiftingCandidate candidate;
  const int column = candidate.plan.tensor({language::kLength, 1}),
            both = candidate.plan.tensor({2 * language::kLength, 1});
  candidate.plan
      .aten(plan::Phase::init, "aten::zeros", {plan::ints({language::kLength, 1})}, {column})
      .aten(plan::Phase::init, "aten::cat",
            {plan::Value{plan::List{{plan::t(column), plan::t(column)}}}, plan::i(0)}, {both});
  const plan::PlanBuilder plan = candidate.launching_with(both);
  EXPECT_EQ(ending_of(plan, shifting(language::kLength)), "none");
  EXPECT_EQ(ending_of(plan, shifting(-1)), "wrong_value");
}

// No step shows what the table holds, but it does not hold the weight's zeros.
TEST(ChangeableWeights, ATableOfOtherValuesExcusesNobodyFromAWeight) {
  ShiftingCandidate candidate;
  const int drawn = candidate.plan.tensor({2 * language::kLength}),
            table = candidate.plan.tensor({2 * language::kLength});
  candidate.plan
      .aten(plan::Phase::init, "aten::rand", {plan::ints({2 * language::kLength})}, {drawn})
      .aten(plan::Phase::init, "aten::add.Tensor", {plan::t(drawn), plan::t(drawn)}, {table});
  EXPECT_EQ(ending_of(candidate.launching_with(table), shifting(-1)), "wrong_value");
}

// Equal values count, whichever way the constructor made them.
TEST(ChangeableWeights, EqualValuesStandForTheWeight) {
  ShiftingCandidate candidate;
  const int drawn = candidate.plan.tensor({language::kLength}),
            nothing = candidate.plan.tensor({language::kLength});
  candidate.plan.aten(plan::Phase::init, "aten::rand", {plan::ints({language::kLength})}, {drawn})
      .aten(plan::Phase::init, "aten::sub.Tensor", {plan::t(drawn), plan::t(drawn)}, {nothing});
  const plan::PlanBuilder plan = candidate.launching_with(nothing);
  EXPECT_EQ(ending_of(plan, shifting(0)), "none");
  EXPECT_EQ(ending_of(plan, shifting(-1)), "wrong_value");
}

// The table holds the weight's value as often as the weight does, but scattered among other values.
TEST(ChangeableWeights, ATableOfItsValuesAmongOthersExcusesNobodyFromAWeight) {
  ShiftingCandidate candidate;
  const int drawn = candidate.plan.tensor({4 * language::kLength}),
            table = candidate.plan.tensor({4 * language::kLength});
  candidate.plan
      .aten(plan::Phase::init, "aten::rand", {plan::ints({4 * language::kLength})}, {drawn})
      .aten(plan::Phase::init, "aten::round", {plan::t(drawn)}, {table});
  EXPECT_EQ(ending_of(candidate.launching_with(table), shifting(-1)), "wrong_value");
}

TEST(ChangeableWeights, APartOfAConstantStandsForTheWeight) {
  ShiftingCandidate candidate;
  const int many = candidate.plan.tensor({2 * language::kLength});
  candidate.plan.aten(plan::Phase::init, "aten::zeros", {plan::ints({2 * language::kLength})},
                      {many});
  const plan::PlanBuilder plan = candidate.launching_with(many);
  EXPECT_EQ(ending_of(plan, shifting(0)), "none");
  EXPECT_EQ(ending_of(plan, shifting(language::kLength)), "wrong_value")
      << "the first part is the first's";
}

// The task is y = x + shift, where a generator or a table fills shift. `held` is the candidate's
// tensor of the same name.
struct Shifts {
  plan::PlanBuilder task{plan::PlanRole::task}, candidate{plan::PlanRole::candidate};
  tensors::TensorTable ours, theirs;
  explicit Shifts(const std::string& op) {
    for (plan::PlanBuilder* side : {&task, &candidate}) {
      const int shift = side->tensor({language::kLength});
      side->aten(
              plan::Phase::init, op,
              {op == "aten::arange" ? plan::i(language::kLength) : plan::ints({language::kLength})},
              {shift})
          .parameter("shift", shift);
    }
    ours = {at::linspace(1, 2, language::kLength)};
    theirs = {ours[0].clone()};
  }
  trial::ChangeableWeights changeable() const {
    const trial::ModuleSide reference{task.plan(), ours}, other{candidate.plan(), theirs};
    return trial::changeable_weights(reference, other, trial::match_weights(reference, other));
  }
};

TEST(ChangeableWeights, ThoseOfAGeneratorAreToldFromOthers) {
  EXPECT_EQ(Shifts("aten::rand").changeable().drawn, std::set<int>{0});
  EXPECT_TRUE(Shifts("aten::rand").changeable().given.empty());
  EXPECT_EQ(Shifts("aten::arange").changeable().given, std::set<int>{0});
}

at::Tensor changed(const std::string& op, at::Tensor weight, trial::Perturbation kind,
                   plan::ParameterKind as = plan::ParameterKind::parameter) {
  Shifts shifts(op);
  shifts.task.plan().parameters[0].kind = shifts.candidate.plan().parameters[0].kind = as;
  shifts.ours = {weight.clone()};
  shifts.theirs = {weight.clone()};
  Rng rng(1, "weights", 0);
  trial::change_weights(shifts.task.plan(), shifts.changeable(), kind, trial::weight_change(kind),
                        rng, shifts.ours);
  return shifts.ours[0];
}

TEST(ChangeableWeights, WhatIsGivenMovesFarBothWays) {
  const at::Tensor ones = at::ones({language::kLength});
  EXPECT_TRUE(at::equal(changed("aten::ones", ones, trial::Perturbation::plain), ones));
  for (const trial::Perturbation kind :
       {trial::Perturbation::scaled, trial::Perturbation::sparse}) {
    const at::Tensor moved = changed("aten::ones", ones, kind);
    EXPECT_LT(moved.min().item<float>(), 0);
    EXPECT_GT(moved.max().item<float>(), 1.5);
    EXPECT_EQ(moved[0].item<float>() > 1, kind == trial::Perturbation::scaled);
  }
  EXPECT_GT(changed("aten::ones", ones, trial::Perturbation::scaled).max().item<float>(), 2);
  EXPECT_LT((changed("aten::ones", ones, trial::Perturbation::below) - 1).abs().max().item<float>(),
            0.6);
}

// Beside 1e5, or under a sigmoid(-12), a change by 1 shows nothing.
TEST(ChangeableWeights, WhatIsFarFromNothingIsReplacedOnce) {
  for (const double far : {1e5, -12.0}) {
    const at::Tensor given = at::full({language::kLength}, far);
    EXPECT_LE(changed("aten::full", given, trial::Perturbation::sparse).abs().max().item<float>(),
              2);
    EXPECT_GT(changed("aten::full", given, trial::Perturbation::scaled).abs().min().item<float>(),
              9);
  }
}

TEST(ChangeableWeights, AParameterDrawnOfOneSignMeetsTheOther) {
  const at::Tensor positive = at::linspace(1, 2, language::kLength);
  const at::Tensor mixed = changed("aten::rand", positive, trial::Perturbation::sparse);
  EXPECT_LT(mixed.min().item<float>(), 0);
  EXPECT_GT(mixed.max().item<float>(), 0);
  EXPECT_GT(changed("aten::rand", positive, trial::Perturbation::scaled).min().item<float>(), 0);
}

// Nothing trains it, and a kernel may divide by it where its sign decides.
TEST(ChangeableWeights, ABufferDrawnOfOneSignKeepsIt) {
  const at::Tensor positive = at::linspace(1, 2, language::kLength);
  const at::Tensor now =
      changed("aten::rand", positive, trial::Perturbation::sparse, plan::ParameterKind::buffer);
  EXPECT_GT(now.min().item<float>(), 0);
  EXPECT_FALSE(at::equal(now, positive));
}

// A table with zeros above its diagonal, say, or one of unit norm.
TEST(ChangeableWeights, WhatAConstructorAlwaysGivesToDrawnWeightsIsLost) {
  at::Tensor half = at::linspace(-3, 3, language::kLength);
  half.narrow(0, 0, language::kLength / 2).zero_();
  for (const trial::Perturbation kind :
       {trial::Perturbation::scaled, trial::Perturbation::sparse}) {
    const at::Tensor now = changed("aten::rand", half, kind);
    EXPECT_FALSE(now.eq(0).any().item<bool>());
    EXPECT_NE(now.norm().item<float>(), half.norm().item<float>());
  }
}

TEST(ChangeableWeights, WhatIsDrawnCountsBesideItsInputs) {
  const at::Tensor small = at::linspace(-0.01, 0.01, language::kLength);
  const auto size = [](const at::Tensor& tensor) {
    return tensor.square().mean().sqrt().item<double>();
  };
  for (const double factor : {1e-4, 1.0, 10.0})
    EXPECT_NEAR(size(changed("aten::rand", factor * small, trial::Perturbation::scaled)), 1, 0.5);
  const at::Tensor large = at::linspace(-3, 3, language::kLength);
  EXPECT_NEAR(size(changed("aten::rand", large, trial::Perturbation::scaled)), size(large), 1);
}

// Small weights grow first. Otherwise 32 times a small table would overflow nothing.
TEST(ChangeableWeights, HeavyWeightsAreHeavyWhateverTheirSize) {
  for (const double factor : {1e-4, 1.0, 10.0}) {
    const at::Tensor drawn = at::linspace(-factor, factor, language::kLength);
    EXPECT_GE(changed("aten::rand", drawn, trial::Perturbation::heavy).abs().max().item<float>(),
              32);
  }
}

}  // namespace
}  // namespace tritonsmith::gym::referee
