#include "gym/referee/draw.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "gym/referee/testing/plan_builder.h"

namespace tritonsmith::gym {
namespace {

constexpr std::int64_t kCount = 1 << 16;

// One input that is `op(x)`, of an x that a generator makes.
Plan task_of_input(const std::string& op, const std::vector<Value>& more,
                   DType dtype = DType::float32) {
  PlanBuilder task(PlanRole::task);
  const int drawn = task.tensor({kCount}), x = task.tensor({kCount}, dtype);
  std::vector<Value> arguments = {t(drawn)};
  arguments.insert(arguments.end(), more.begin(), more.end());
  task.aten(Phase::inputs, "aten::randn", {ints({kCount})}, {drawn})
      .aten(Phase::inputs, op, arguments, {x})
      .input(t(x))
      .returns(t(x));
  return task.plan();
}

TEST(Draw, WhatIsCopiedCastOrScaledIsStillByChance) {
  for (const auto& [op, more] :
       std::vector<std::pair<std::string, std::vector<Value>>>{{"aten::_to_copy", {}},
                                                               {"aten::clone", {}},
                                                               {"aten::view", {ints({kCount})}},
                                                               {"aten::mul.Tensor", {f(0.5)}},
                                                               {"aten::sub.Tensor", {f(0.5)}}})
    EXPECT_FALSE(extreme_kinds(task_of_input(op, more)).empty()) << op;
  EXPECT_FALSE(extreme_kinds(task_of_input("aten::slice.Tensor", {i(0), i(1)})).empty());
  EXPECT_FALSE(extreme_kinds(task_of_input("aten::mul_.Tensor", {f(2)})).empty());
  EXPECT_TRUE(extreme_kinds(task_of_input("aten::tril", {})).empty());
  EXPECT_TRUE(extreme_kinds(task_of_input("aten::softmax.int", {i(0)})).empty());
}

TEST(Draw, WhatIsJoinedOfDrawsIsStillByChance) {
  const auto joined_with = [](const std::string& other) {
    PlanBuilder task(PlanRole::task);
    const int a = task.tensor({4}), b = task.tensor({4}), x = task.tensor({2, 4});
    task.aten(Phase::inputs, "aten::randn", {ints({4})}, {a})
        .aten(Phase::inputs, other, {ints({4})}, {b})
        .aten(Phase::inputs, "aten::stack", {Value{List{{t(a), t(b)}}}}, {x})
        .input(t(x))
        .returns(t(x));
    return extreme_kinds(task.plan());
  };
  EXPECT_FALSE(joined_with("aten::rand").empty());
  EXPECT_TRUE(joined_with("aten::ones").empty());
}

TEST(Draw, SumsAndProductsOfDrawsAreByChanceAndNotWhatAMaskLeft) {
  const auto of_two = [](const std::string& op, const std::string& other) {
    PlanBuilder task(PlanRole::task);
    const int a = task.tensor({4}), b = task.tensor({4}), x = task.tensor({4});
    task.aten(Phase::inputs, "aten::randn", {ints({4})}, {a})
        .aten(Phase::inputs, other, {ints({4})}, {b})
        .aten(Phase::inputs, op, {t(a), t(b)}, {x})
        .input(t(x))
        .returns(t(x));
    return extreme_kinds(task.plan());
  };
  EXPECT_FALSE(of_two("aten::add.Tensor", "aten::randn").empty());
  EXPECT_FALSE(of_two("aten::mul.Tensor", "aten::rand").empty());
  EXPECT_TRUE(of_two("aten::mul.Tensor", "aten::bernoulli").empty());
}

// A first hidden state.
TEST(Draw, ZerosThatATaskAlwaysMakesAreSomethingOnce) {
  PlanBuilder task(PlanRole::task);
  const int x = task.tensor({4});
  task.aten(Phase::inputs, "aten::zeros", {ints({4})}, {x}).input(t(x)).returns(t(x));
  for (const TrialKind kind : {TrialKind::scaled, TrialKind::sparse}) {
    TensorTable tensors = {at::zeros({4})};
    Rng rng(1, "draw", 0);
    perturb_inputs(task.plan(), kind, rng, tensors);
    EXPECT_EQ(tensors[0].eq(0).all().item<bool>(), kind == TrialKind::scaled);
  }
}

TEST(Draw, ExponentialsAreNothingAndEndlessOnce) {
  const Plan task = task_of_input("aten::clone", {});
  const auto exponential_of = [&](TrialKind kind) {
    TensorTable tensors = {at::Tensor(), at::zeros({4})};
    Rng rng(1, "draw", 0);
    perturb_inputs(task, kind, rng, tensors);
    return tensors[1].exp()[0].item<float>();
  };
  EXPECT_EQ(exponential_of(TrialKind::lowered), 0);
  EXPECT_TRUE(std::isinf(exponential_of(TrialKind::shifted)));
}

// Edges of buckets stay in order.
TEST(Draw, WhatNoChanceIsInKeepsItsSign) {
  for (const std::string op : {"aten::ones", "aten::randn"}) {
    PlanBuilder task(PlanRole::task);
    const int x = task.tensor({4});
    task.aten(Phase::inputs, op, {ints({4})}, {x}).input(t(x)).returns(t(x));
    bool negative = false;
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
      TensorTable tensors = {at::ones({4})};
      Rng rng(seed, "draw", 0);
      perturb_inputs(task.plan(), TrialKind::scaled, rng, tensors);
      negative = negative || tensors[0][0].item<float>() < 0;
      EXPECT_NE(tensors[0][0].item<float>(), 1);
    }
    EXPECT_EQ(negative, op == "aten::randn");
  }
}

// Rows of zeros would have many places of the greatest.
TEST(Draw, WhoAsksForPlacesMeetsFewTies) {
  for (const std::string op : {"aten::topk", "aten::relu"}) {
    PlanBuilder task(PlanRole::task);
    const int x = task.tensor({256}), y = task.tensor({256}), places = task.tensor({256});
    task.aten(Phase::inputs, "aten::randn", {ints({256})}, {x})
        .input(t(x))
        .aten(Phase::forward, op, {t(x), i(256)}, {y, places})
        .returns(t(places));
    TensorTable tensors = {at::ones({256})};
    Rng rng(1, "draw", 0);
    perturb_inputs(task.plan(), TrialKind::sparse, rng, tensors);
    EXPECT_EQ(tensors[0].eq(0).any().item<bool>(), op == "aten::relu");
  }
}

TEST(Draw, InputsIn16BitsAreSpiked) {
  const auto has_spikes = [](const Plan& task) {
    return std::ranges::any_of(extreme_kinds(task), is_spiked);
  };
  EXPECT_FALSE(has_spikes(task_of_input("aten::_to_copy", {})));
  const Plan task = task_of_input("aten::_to_copy", {}, DType::bfloat16);
  EXPECT_TRUE(has_spikes(task));
  const at::Tensor before = at::randn({kCount}).to(at::kBFloat16);
  TensorTable tensors = {at::Tensor(), before.clone()};
  Rng rng(1, "draw", 0);
  perturb_inputs(task, TrialKind::spiked, rng, tensors);
  const auto changed = tensors[1].ne(before).sum().item<std::int64_t>();
  EXPECT_GT(changed, 4);
  EXPECT_LT(changed, 64) << "16 are meant";
  EXPECT_TRUE(at::equal(at::where(tensors[1].ne(before), tensors[1] / 1024, tensors[1]), before));
}

}  // namespace
}  // namespace tritonsmith::gym
