#include "gym/referee/draw.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <algorithm>

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
  EXPECT_TRUE(extreme_kinds(task_of_input("aten::tril", {})).empty());
  EXPECT_TRUE(extreme_kinds(task_of_input("aten::softmax.int", {i(0)})).empty());
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
