#include "gym/replay/candidate_operators.h"

#include <ATen/ATen.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <gtest/gtest.h>

#include <limits>

#include "gym/plan/testing/plan_builder.h"
#include "gym/replay/candidate_arguments.h"

namespace tritonsmith::gym::replay {
namespace {

TEST(CandidateOperators, AreThoseThatCheckTheirArguments) {
  for (const char* op :
       {"aten::add.Tensor", "aten::uniform_", "aten::convolution", "aten::lstm.input",
        "aten::add.out", "aten::index.Tensor", "aten::native_dropout"})
    EXPECT_TRUE(is_for_candidates(op)) << op;
  for (const char* op :
       {"aten::nll_loss_backward", "aten::nll_loss_backward.grad_input", "aten::_reshape_alias",
        "aten::_ctc_loss", "aten::_cummax_helper", "aten::_to_cpu", "aten::cumsum.out",
        "aten::lstm.data", "aten::repeat_interleave.Tensor", "aten::_fft_c2c", "aten::zeros.names",
        "aten::sum.dim_DimnameList", "aten::binomial", "aten::native_batch_norm",
        "aten::set_.source_Tensor", "other::add", "add", ""})
    EXPECT_FALSE(is_for_candidates(op)) << op;
}

TEST(CandidateOperators, ThoseOfTheConstructorCountToo) {
  plan::PlanBuilder plan(plan::PlanRole::candidate);
  const int x = plan.tensor({4}), y = plan.tensor({4});
  plan.aten(plan::Phase::init, "aten::ones", {plan::ints({4})}, {x});
  EXPECT_EQ(find_unsafe_step(plan.plan()), nullptr);
  plan.aten(plan::Phase::init, "aten::_reshape_alias",
            {plan::t(x), plan::ints({400}), plan::ints({1})}, {y});
  ASSERT_NE(find_unsafe_step(plan.plan()), nullptr);
}

class CandidateArguments : public testing::Test {
 protected:
  static bool pass(const char* name, const char* overload, torch::jit::Stack stack) {
    const auto handle = c10::Dispatcher::singleton().findSchema({name, overload});
    CHECK(handle, "no operator {}", name);
    return check_candidate_arguments(handle->schema(), stack).has_value();
  }
  static bool attends(at::IntArrayRef key, at::IntArrayRef value) {
    return pass("aten::scaled_dot_product_attention", "",
                {at::zeros({2, 4, 8}), at::zeros(key), at::zeros(value), at::Tensor(), 0.0, false,
                 c10::IValue(), false});
  }
  static bool recurs(at::IntArrayRef weight, at::IntArrayRef state) {
    const std::vector<at::Tensor> states = {at::zeros(state), at::zeros(state)};
    const std::vector<at::Tensor> weights = {at::zeros(weight), at::zeros({24, 6}), at::zeros({24}),
                                             at::zeros({24})};
    return pass("aten::lstm", "input",
                {at::zeros({5, 2, 3}), states, weights, true, 1, 0.0, false, false, false});
  }
};

TEST_F(CandidateArguments, KeysAndValuesAreAsMany) {
  EXPECT_TRUE(attends({2, 7, 8}, {2, 7, 9}));
  EXPECT_FALSE(attends({2, 1, 8}, {2, 7, 8}));
  EXPECT_FALSE(attends({2, 7, 8}, {2, 0, 8}));
}

TEST_F(CandidateArguments, RecurrentWeightsFitTheirInput) {
  EXPECT_TRUE(recurs({24, 3}, {1, 2, 6}));
  EXPECT_FALSE(recurs({1, 3}, {1, 2, 6}));
  EXPECT_FALSE(recurs({24, 3}, {1, 1, 6}));
}

TEST_F(CandidateArguments, ViewsAreNoLargerThanMemoryEverIs) {
  const at::Tensor one = at::zeros({1});
  const at::Tensor endless = one.expand({std::int64_t{1} << 35});
  EXPECT_FALSE(has_endless_view({one.expand({1 << 20}), c10::IValue()}));
  EXPECT_TRUE(has_endless_view({endless, c10::IValue()}));
  EXPECT_TRUE(has_endless_view({std::vector<at::Tensor>{one, endless}, 0}));
  const at::Tensor nowhere = one.as_strided({0}, {1}, 1 << 20);
  EXPECT_FALSE(pass("aten::exp", "", {nowhere}));
}

TEST_F(CandidateArguments, ListsOfViewsAreShort) {
  const at::Tensor tall = at::zeros({1}).expand({1 << 20, 4});
  EXPECT_TRUE(pass("aten::unbind", "int", {tall, 1}));
  EXPECT_FALSE(pass("aten::unbind", "int", {tall, 0}));
  EXPECT_TRUE(pass("aten::split", "Tensor", {tall, 1 << 10, 0}));
  EXPECT_FALSE(pass("aten::split", "Tensor", {tall, 1, 0}));
  EXPECT_TRUE(pass("aten::chunk", "", {tall, 4, 0}));
  EXPECT_FALSE(pass("aten::chunk", "", {tall, 1 << 20, 0}));
}

TEST_F(CandidateArguments, WhatCostsMoreThanItsSizeIsBounded) {
  const at::Tensor one = at::zeros({1, 1});
  const auto product_of = [&](std::size_t count) {
    return pass("aten::linalg_multi_dot", "", {std::vector<at::Tensor>(count, one)});
  };
  EXPECT_TRUE(product_of(8));
  EXPECT_FALSE(product_of(6000));
  const auto expanded_to = [&](std::size_t dimensions) {
    return pass("aten::expand", "", {one, std::vector<std::int64_t>(dimensions, 1), false});
  };
  EXPECT_TRUE(expanded_to(5));
  EXPECT_FALSE(expanded_to(200'000));
  EXPECT_TRUE(pass("aten::diff", "", {one, 2, -1, c10::IValue(), c10::IValue()}));
  EXPECT_FALSE(pass("aten::diff", "", {one, 1 << 20, -1, c10::IValue(), c10::IValue()}));
  const at::Tensor rows = at::zeros({100, 1});
  EXPECT_TRUE(pass("aten::split_with_sizes", "", {rows, std::vector<std::int64_t>(100, 1), 0}));
}

TEST_F(CandidateArguments, AWeightHasALengthForEachRow) {
  const at::Tensor v = at::zeros({4, 3});
  EXPECT_TRUE(pass("aten::_weight_norm_interface", "", {v, at::zeros({4, 1}), 0}));
  EXPECT_FALSE(pass("aten::_weight_norm_interface", "", {v, at::zeros({1, 1}), 0}));
  EXPECT_FALSE(pass("aten::_weight_norm_interface", "", {v.t(), at::zeros({3, 1}), 0}));
}

TEST_F(CandidateArguments, WholeNumbersDoNotWrap) {
  const at::Tensor x = at::zeros({1, 2, 4, 4});
  const auto pads = [&](std::int64_t by) {
    return pass("aten::replication_pad2d", "", {x, std::vector<std::int64_t>{by, by, 0, 0}});
  };
  EXPECT_TRUE(pads(3));
  EXPECT_FALSE(pads(std::numeric_limits<std::int64_t>::max()));
}

}  // namespace
}  // namespace tritonsmith::gym::replay
