#include "gym/referee/weights.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "gym/referee/testing/vector_plans.h"

namespace tritonsmith::gym {
namespace {

// A candidate that makes a base like the reference's weight and keeps only `op(base, zeros)` of it,
// under another name.
bool matches(const std::string& op, const at::Tensor& weight, const at::Tensor& base) {
  PlanBuilder task(PlanRole::task), candidate(PlanRole::candidate);
  const int ours = task.tensor({kLength});
  task.parameter("base.weight", ours);
  const int made = candidate.tensor({kLength}), zeros = candidate.tensor({kLength}),
            kept = candidate.tensor({kLength});
  candidate.aten(Phase::init, "aten::randn", {ints({kLength})}, {made})
      .aten(Phase::init, "aten::zeros", {ints({kLength})}, {zeros})
      .aten(Phase::init, op, {t(made), t(zeros)}, {kept})
      .parameter("weight", kept);
  const TensorTable reference = {weight}, other = {base, at::zeros({kLength}), weight.clone()};
  return !match_weights({task.plan(), reference}, {candidate.plan(), other}).empty();
}

TEST(Weights, WhatIsMergedIsNoMatchForItsBase) {
  const at::Tensor base = at::linspace(-1, 1, kLength);
  EXPECT_TRUE(matches("aten::clone", base, base));
  EXPECT_FALSE(matches("aten::add.Tensor", base, base));
  const at::Tensor rounded = base.to(at::kBFloat16);  // merged, then cast
  EXPECT_FALSE(matches("aten::add.Tensor", rounded, base));
}

// A generator's numbers, scaled: whoever renames the module makes it the same way.
TEST(Weights, WhatIsCalculatedOfOtherNumbersIsAMatch) {
  const at::Tensor weight = at::linspace(-1, 1, kLength);
  EXPECT_TRUE(matches("aten::add.Tensor", weight, 50 * weight));
}

TEST(Weights, WhatIsCalculatedIsNoMatchForAConstant) {
  const at::Tensor ones = at::ones({kLength});
  EXPECT_FALSE(matches("aten::add.Tensor", ones, 3 * ones));
  EXPECT_TRUE(matches("aten::clone", ones, ones));
}

}  // namespace
}  // namespace tritonsmith::gym
