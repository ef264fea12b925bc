#include "gym/trial/constant_factors.h"

#include <gtest/gtest.h>

#include "gym/plan/testing/plan_builder.h"

namespace tritonsmith::gym::trial {
namespace {

using plan::Phase;
using plan::PlanBuilder;
using plan::PlanRole;

constexpr int kInput = 0, kFactor = 1;

// y = x @ f, where f is a matrix of the given operator's, or of nothing that the plan shows.
plan::Plan product_with(const std::string& maker, const std::string& product = "aten::mm") {
  PlanBuilder builder(PlanRole::candidate);
  const int x = builder.tensor({2, 2}), f = builder.tensor({2, 2}), y = builder.tensor({2, 2});
  builder.input(plan::t(x))
      .aten(Phase::forward, maker, {plan::t(x)}, {f})
      .aten(Phase::forward, product, {plan::t(x), plan::t(f), plan::t(f)}, {y})
      .returns(plan::t(y));
  return builder.plan();
}

// The findings after two trials, with these values of the factor.
std::size_t findings_of(const plan::Plan& candidate, const std::vector<float>& one,
                        const std::vector<float>& other,
                        const std::vector<float>& other_input = {5, 6, 7, 8},
                        Policy policy = Policy::fused) {
  const plan::Plan task = product_with("aten::relu");
  const std::vector<float> x = {1, 2, 3, 4};
  ConstantFactors factors(candidate, task, policy);
  factors.note({.candidate = {{kInput, x}, {kFactor, one}}, .reference = {{kFactor, x}}});
  factors.note({.candidate = {{kInput, other_input}, {kFactor, other}},
                .reference = {{kFactor, other_input}}});
  return factors.findings().size();
}

TEST(ConstantFactors, AreTheSameInEachTrial) {
  const plan::Plan candidate = product_with("aten::empty_like");
  EXPECT_EQ(findings_of(candidate, {1, 0, 1, 1}, {1, 0, 1, 1}), 1U);
  EXPECT_EQ(findings_of(candidate, {1, 0, 1, 1}, {1, 1e-5F, 1, 1}), 1U) << "almost";
  EXPECT_EQ(findings_of(candidate, {1, 0, 1, 1}, {1, 0, 1, 2}), 0U);
  EXPECT_EQ(findings_of(candidate, {1, 0, 1, 1}, {1, 0, 1, 1}, {5, 6, 7, 8}, Policy::open), 0U);
}

TEST(ConstantFactors, MayBeScaledInEachTrial) {
  const plan::Plan candidate = product_with("aten::empty_like");
  for (const float scale : {0x1p-20F, 0.5F, 3.0F, 0x1p20F, -1.0F})
    EXPECT_EQ(findings_of(candidate, {1, 0, -1, 1}, {scale, 0, -scale, scale}), 1U) << scale;
  EXPECT_EQ(findings_of(candidate, {1, 0, -1, 1}, {2, 0, -2, 1.9F}), 0U);
  EXPECT_EQ(findings_of(candidate, {1, 0, -1, 1}, {0, 0, 0, 0}), 0U) << "a number but 0";
}

TEST(ConstantFactors, MayFollowFromAnInputThatIsScaled) {
  const plan::Plan candidate = product_with("aten::relu"), task = product_with("aten::relu");
  const auto findings = [&](const std::vector<float>& other_of_task) {
    ConstantFactors factors(candidate, task, Policy::fused);
    const std::vector<float> x = {1, 2, 3, 4};
    factors.note({.candidate = {{kInput, x}, {kFactor, x}}, .reference = {{kFactor, x}}});
    factors.note({.candidate = {{kInput, {2, 4, 6, 8}}, {kFactor, {2, 4, 6, 8}}},
                  .reference = {{kFactor, other_of_task}}});
    return factors.findings().size();
  };
  EXPECT_EQ(findings({2, 4, 6, 9}), 1U) << "an input that is scaled has changed";
  EXPECT_EQ(findings({3, 6, 9, 12}), 0U) << "the task has such a product, too";
}

TEST(ConstantFactors, OfZerosMatterInAnAttentionOnly) {
  EXPECT_EQ(findings_of(product_with("aten::empty_like"), {0, 0, 0, 0}, {0, 0, 0, 0}), 0U);
  EXPECT_EQ(findings_of(product_with("aten::empty_like", "aten::scaled_dot_product_attention"),
                        {0, 0, 0, 0}, {0, 0, 0, 0}),
            1U);
}

TEST(ConstantFactors, SayNothingIfTheyFollowFromWhatNoTrialChanged) {
  const plan::Plan candidate = product_with("aten::relu");
  EXPECT_EQ(findings_of(candidate, {1, 0, 1, 1}, {1, 0, 1, 1}, {1, 2, 3, 4}), 0U);
  EXPECT_EQ(findings_of(candidate, {1, 0, 1, 1}, {1, 0, 1, 1}), 1U);
}

}  // namespace
}  // namespace tritonsmith::gym::trial
