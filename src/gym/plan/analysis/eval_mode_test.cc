#include "gym/plan/analysis/eval_mode.h"

#include <gtest/gtest.h>

#include "gym/language/testing/vector_plans.h"

namespace tritonsmith::gym::plan::analysis {
namespace {

const std::vector<Value>& arguments_of_step(const Plan& plan, std::size_t step) {
  return std::get<AtenCall>(plan.steps.at(step).action).args;
}

TEST(EvalMode, SwitchesOffWhatDrawsAndNothingElse) {
  PlanBuilder task(PlanRole::task);
  const int x = task.tensor({8, 4}), normal = task.tensor({8, 4}), y = task.tensor({8, 4}),
            mask = task.tensor({8, 4}, DType::boolean);
  const Value none{None{}};
  task.input(t(x))
      .aten(Phase::forward, "aten::native_batch_norm",
            {t(x), none, none, none, none, Value{true}, f(0.1), f(1e-5)}, {normal})
      .aten(Phase::forward, "aten::native_dropout", {t(normal), f(0.5), Value{true}}, {y, mask})
      .returns(t(y));
  ASSERT_TRUE(draws_in_forward(task.plan()));
  const Plan calm = in_eval_mode(task.plan());
  EXPECT_FALSE(draws_in_forward(calm));
  EXPECT_EQ(arguments_of_step(calm, 0)[5], Value{true});
  EXPECT_EQ(arguments_of_step(calm, 1)[2], Value{false});
}

TEST(EvalMode, AttentionDrawsIfItsDropoutIsGivenInEitherForm) {
  const Value none{None{}};
  for (const bool by_name : {false, true})
    for (const double probability : {0.0, 0.5}) {
      PlanBuilder task(PlanRole::task);
      const int x = task.tensor({1, 1, 8, 8}), y = task.tensor({1, 1, 8, 8});
      std::vector<Value> args = {t(x), t(x), t(x), none};
      if (!by_name) args.push_back(f(probability));
      task.input(t(x)).aten(Phase::forward, "aten::scaled_dot_product_attention", args, {y});
      auto& call = std::get<AtenCall>(task.plan().steps.back().action);
      if (by_name) call.kwargs.emplace_back("dropout_p", f(probability));
      EXPECT_EQ(draws_in_forward(task.plan()), probability > 0);
      EXPECT_FALSE(draws_in_forward(in_eval_mode(task.plan())));
    }
}

TEST(EvalMode, DrawsOfFixedShapesComeFirst) {
  PlanBuilder task(PlanRole::task);
  const int x = task.tensor({8}), first = task.tensor({8}), second = task.tensor({8}),
            of_x = task.tensor({8}), y = task.tensor({8});
  task.input(t(x))
      .aten(Phase::forward, "aten::randn", {ints({8})}, {first})
      .aten(Phase::forward, "aten::add.Tensor", {t(x), t(first)}, {y})
      .aten(Phase::forward, "aten::rand", {ints({8})}, {second})
      .returns(t(y));
  const Plan given = with_draws_first(task.plan());
  EXPECT_FALSE(draws_in_forward(given));
  EXPECT_EQ(given.steps.at(0).phase, Phase::init);
  EXPECT_EQ(given.steps.at(0).draw, 0);
  EXPECT_EQ(given.steps.at(1).phase, Phase::forward);
  EXPECT_EQ(given.steps.at(2).draw, 1);

  task.aten(Phase::forward, "aten::rand_like", {t(x)}, {of_x});
  EXPECT_TRUE(draws_in_forward(with_draws_first(task.plan())));
}

}  // namespace
}  // namespace tritonsmith::gym::plan::analysis
