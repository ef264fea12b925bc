#include "gym/trial/weights/weights.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "gym/language/testing/vector_plans.h"

namespace tritonsmith::gym::trial {
namespace {

// Builds a candidate that makes a base like the reference's weight and keeps only `op(base, zeros)`
// of it, under another name. Returns whether the two match.
bool matches(const std::string& op, const at::Tensor& weight, const at::Tensor& base) {
  plan::PlanBuilder task(plan::PlanRole::task), candidate(plan::PlanRole::candidate);
  const int ours = task.tensor({language::kLength});
  task.parameter("base.weight", ours);
  const int made = candidate.tensor({language::kLength}),
            zeros = candidate.tensor({language::kLength}),
            kept = candidate.tensor({language::kLength});
  candidate.aten(plan::Phase::init, "aten::randn", {plan::ints({language::kLength})}, {made})
      .aten(plan::Phase::init, "aten::zeros", {plan::ints({language::kLength})}, {zeros})
      .aten(plan::Phase::init, op, {plan::t(made), plan::t(zeros)}, {kept})
      .parameter("weight", kept);
  const tensors::TensorTable reference = {weight},
                             other = {base, at::zeros({language::kLength}), weight.clone()};
  return !match_weights({task.plan(), reference}, {candidate.plan(), other}).empty();
}

TEST(Weights, WhatIsMergedIsNoMatchForItsBase) {
  const at::Tensor base = at::linspace(-1, 1, language::kLength);
  EXPECT_TRUE(matches("aten::clone", base, base));
  EXPECT_FALSE(matches("aten::add.Tensor", base, base));
  const at::Tensor rounded = base.to(at::kBFloat16);  // merged, then cast
  EXPECT_FALSE(matches("aten::add.Tensor", rounded, base));
}

// A module that is renamed scales the generator's numbers in the same way.
TEST(Weights, WhatIsCalculatedOfOtherNumbersIsAMatch) {
  const at::Tensor weight = at::linspace(-1, 1, language::kLength);
  EXPECT_TRUE(matches("aten::add.Tensor", weight, 50 * weight));
}

TEST(Weights, WhatIsCalculatedIsNoMatchForAConstant) {
  const at::Tensor ones = at::ones({language::kLength});
  EXPECT_FALSE(matches("aten::add.Tensor", ones, 3 * ones));
  EXPECT_TRUE(matches("aten::clone", ones, ones));
}

}  // namespace
}  // namespace tritonsmith::gym::trial
