#include "gym/referee/candidate_operators.h"

#include <gtest/gtest.h>

#include "gym/referee/testing/plan_builder.h"

namespace tritonsmith::gym {
namespace {

TEST(CandidateOperators, AreThoseThatCheckTheirArguments) {
  for (const char* op :
       {"aten::add.Tensor", "aten::uniform_", "aten::convolution", "aten::lstm.input",
        "aten::add.out", "aten::index.Tensor", "aten::native_dropout"})
    EXPECT_TRUE(is_for_candidates(op)) << op;
  for (const char* op :
       {"aten::nll_loss_backward", "aten::nll_loss_backward.grad_input", "aten::_reshape_alias",
        "aten::_ctc_loss", "aten::_cummax_helper", "aten::_weight_norm_interface", "aten::_to_cpu",
        "aten::cumsum.out", "aten::set_.source_Tensor", "other::add", "add", ""})
    EXPECT_FALSE(is_for_candidates(op)) << op;
}

TEST(CandidateOperators, ThoseOfTheConstructorCountToo) {
  PlanBuilder plan(PlanRole::candidate);
  const int x = plan.tensor({4}), y = plan.tensor({4});
  plan.aten(Phase::init, "aten::ones", {ints({4})}, {x});
  EXPECT_EQ(find_unsafe_step(plan.plan()), nullptr);
  plan.aten(Phase::init, "aten::_reshape_alias", {t(x), ints({400}), ints({1})}, {y});
  ASSERT_NE(find_unsafe_step(plan.plan()), nullptr);
}

}  // namespace
}  // namespace tritonsmith::gym
