#include "gym/trial/findings/torch_compute.h"

#include <gtest/gtest.h>

#include "gym/plan/testing/plan_builder.h"

namespace tritonsmith::gym::trial {
namespace {

using plan::DType;
using plan::Phase;
using plan::PlanBuilder;
using plan::PlanRole;

std::vector<Finding> findings_of(const plan::Plan& candidate, Policy policy = Policy::strict,
                                 const plan::Plan& task = {}) {
  std::vector<Finding> findings;
  find_torch_compute(candidate, task, policy, findings);
  return findings;
}

// A candidate with one operator from an input of one type to a result of another.
plan::Plan with_cast(DType from, DType to, const std::string& op = "aten::_to_copy") {
  PlanBuilder builder(PlanRole::candidate);
  const int x = builder.tensor({8}, from), y = builder.tensor({8}, to);
  builder.input(plan::t(x)).aten(Phase::forward, op, {plan::t(x)}, {y}).returns(plan::t(y));
  return builder.plan();
}

TEST(TorchCompute, CastsBetweenKindsOfNumbersCompute) {
  EXPECT_TRUE(findings_of(with_cast(DType::float32, DType::float16)).empty());
  EXPECT_TRUE(findings_of(with_cast(DType::int64, DType::int32)).empty());
  EXPECT_TRUE(findings_of(with_cast(DType::boolean, DType::int8)).empty());
  EXPECT_TRUE(findings_of(with_cast(DType::boolean, DType::float32)).empty());
  EXPECT_EQ(findings_of(with_cast(DType::float32, DType::int32)).size(), 1U);
  EXPECT_EQ(findings_of(with_cast(DType::float32, DType::boolean)).size(), 1U);
  EXPECT_EQ(findings_of(with_cast(DType::int8, DType::float32)).size(), 1U);
  EXPECT_TRUE(findings_of(with_cast(DType::int8, DType::float32), Policy::open).empty());
}

// Such a shape is common: sums over all but one dimension, pools of one element, and their memory.
TEST(TorchCompute, MemoryOfOneRowAndOneColumnIsNoProduct) {
  PlanBuilder builder(PlanRole::candidate);
  const int x = builder.tensor({8, 1, 1}), y = builder.tensor({8, 1, 1});
  builder.input(plan::t(x))
      .aten(Phase::forward, "aten::empty_like", {plan::t(x)}, {y})
      .returns(plan::t(y));
  EXPECT_TRUE(findings_of(builder.plan(), Policy::fused).empty());
  EXPECT_TRUE(findings_of(builder.plan()).empty());
}

TEST(TorchCompute, BytesMayBeReadAsOtherBytesAndFloatsNotAsWholeNumbers) {
  const std::string view = "aten::view.dtype";
  EXPECT_TRUE(findings_of(with_cast(DType::boolean, DType::uint8, view)).empty());
  EXPECT_TRUE(findings_of(with_cast(DType::uint8, DType::float8_e4m3fn, view)).empty());
  EXPECT_TRUE(findings_of(with_cast(DType::int64, DType::int32, view)).empty());
  EXPECT_EQ(findings_of(with_cast(DType::float32, DType::int32, view)).size(), 1U);
  EXPECT_EQ(findings_of(with_cast(DType::float32, DType::bfloat16, view)).size(), 1U);
  EXPECT_TRUE(findings_of(with_cast(DType::complex64, DType::float32, view)).empty());
  EXPECT_TRUE(findings_of(with_cast(DType::float64, DType::complex128, view)).empty());
  EXPECT_EQ(findings_of(with_cast(DType::complex64, DType::float64, view)).size(), 1U);
}

// y = empty; y[:4].zero_(), before or after a copy of x is made in y.
plan::Plan with_fill(bool of_copy, std::int64_t elements) {
  PlanBuilder builder(PlanRole::candidate);
  const int x = builder.tensor({8}), y = builder.tensor({8});
  const int part = builder.view(y, {elements}, {1});
  builder.input(plan::t(x));
  if (of_copy)
    builder.aten(Phase::forward, "aten::clone", {plan::t(x)}, {y});
  else
    builder.aten(Phase::forward, "aten::empty_like", {plan::t(x)}, {y});
  builder.aten(Phase::forward, "aten::slice.Tensor", {plan::t(y), plan::i(0)}, {part})
      .aten(Phase::forward, "aten::zero_", {plan::t(part)}, {part})
      .returns(plan::t(y));
  return builder.plan();
}

TEST(TorchCompute, FillingAPartOfWhatWasComputedComputesAMask) {
  EXPECT_TRUE(findings_of(with_fill(false, 4)).empty()) << "new memory";
  EXPECT_TRUE(findings_of(with_fill(true, 8)).empty()) << "all of it begins anew";
  EXPECT_EQ(findings_of(with_fill(true, 4)).size(), 1U);
}

plan::Plan with_operator(PlanRole role, const std::string& op) {
  PlanBuilder builder(role);
  const int x = builder.tensor({8, 8}), y = builder.tensor({8, 8});
  builder.input(plan::t(x))
      .aten(Phase::forward, op, {plan::t(x), plan::t(x)}, {y})
      .returns(plan::t(y));
  return builder.plan();
}

TEST(TorchCompute, FusedAllowsTheKindsThatTheTaskHas) {
  const auto is_allowed = [](const std::string& op, const std::string& of_task) {
    return findings_of(with_operator(PlanRole::candidate, op), Policy::fused,
                       with_operator(PlanRole::task, of_task))
        .empty();
  };
  EXPECT_TRUE(is_allowed("aten::mm", "aten::bmm"));
  EXPECT_TRUE(is_allowed("aten::mm", "aten::convolution"));
  EXPECT_TRUE(is_allowed("aten::lstm_cell", "aten::lstm_cell"));
  EXPECT_FALSE(is_allowed("aten::mm", "aten::relu"));
  EXPECT_FALSE(is_allowed("aten::mv", "aten::mm"));
  EXPECT_FALSE(is_allowed("aten::scaled_dot_product_attention", "aten::mm"));
  EXPECT_FALSE(is_allowed("aten::rnn_tanh_cell", "aten::mm"));
  EXPECT_FALSE(is_allowed("aten::_addmm_activation", "aten::mm"));
}

// Multiplies with the first weight, made by `op` in the constructor, or with what `packing` makes of it
// there. A name makes it a weight.
plan::Plan with_weight(PlanRole role, const std::string& op, const std::string& name,
                       const std::string& packing = "") {
  PlanBuilder builder(role);
  const int x = builder.tensor({8, 8}), made = builder.tensor({8, 8}),
            packed = packing.empty() ? made : builder.tensor({8, 8}), y = builder.tensor({8, 8});
  builder.aten(Phase::init, op, {plan::ints({8, 8})}, {made});
  if (!packing.empty()) builder.aten(Phase::init, packing, {plan::t(made)}, {packed});
  if (!name.empty()) builder.parameter(name, made);
  builder.input(plan::t(x))
      .aten(Phase::forward, "aten::mm", {plan::t(x), plan::t(packed)}, {y})
      .returns(plan::t(y));
  return builder.plan();
}

TEST(TorchCompute, FusedAllowsNoProductWithConstantsThatTheTaskLacks) {
  const plan::Plan task = with_weight(PlanRole::task, "aten::randn", "w");
  const auto is_allowed = [&](const plan::Plan& candidate, const plan::Plan& of) {
    return findings_of(candidate, Policy::fused, of).empty();
  };
  const plan::Plan constant = with_weight(PlanRole::candidate, "aten::ones", "");
  EXPECT_FALSE(is_allowed(constant, task));
  EXPECT_FALSE(is_allowed(with_weight(PlanRole::candidate, "aten::ones", "m"), task));
  EXPECT_TRUE(is_allowed(with_weight(PlanRole::candidate, "aten::ones", "w"), task))
      << "a weight of the task's name has the task's values";
  EXPECT_TRUE(
      is_allowed(with_weight(PlanRole::candidate, "aten::zeros", "w", "aten::clone"), task));
  EXPECT_TRUE(is_allowed(with_weight(PlanRole::candidate, "aten::randn", ""), task));
  EXPECT_TRUE(is_allowed(constant, with_weight(PlanRole::task, "aten::ones", "")))
      << "the task itself multiplies with constants";
}

TEST(TorchCompute, CountingIsNoComputingUnlessFloatsLieThere) {
  const auto counting = [](bool as_float) {
    PlanBuilder builder(PlanRole::candidate);
    const int x = builder.tensor({8}), count = builder.tensor({}, DType::int32);
    const int other = builder.view(count, {1}, {1});
    plan::Plan plan =
        builder.input(plan::t(x))
            .aten(Phase::forward, "aten::add_.Tensor", {plan::t(count), plan::i(1)}, {count})
            .returns(plan::t(x))
            .plan();
    if (as_float) plan.tensors[static_cast<std::size_t>(other)].dtype = DType::float32;
    return findings_of(plan).empty();
  };
  EXPECT_TRUE(counting(false));
  EXPECT_FALSE(counting(true));
}

TEST(TorchCompute, UnderStrictMovingIsWorkThatAKernelMayPassOn) {
  EXPECT_TRUE(
      computes_in_torch(with_cast(DType::float32, DType::float32, "aten::clone"), Policy::strict));
  EXPECT_FALSE(
      computes_in_torch(with_cast(DType::float32, DType::float32, "aten::clone"), Policy::fused));
  EXPECT_FALSE(computes_in_torch(with_cast(DType::float32, DType::float32, "aten::empty_like"),
                                 Policy::strict));
}

}  // namespace
}  // namespace tritonsmith::gym::trial
