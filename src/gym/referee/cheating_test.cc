// Tests candidates whose outputs are right for wrong reasons.
#include <gtest/gtest.h>
#include <poll.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <set>

#include "base/clock.h"
#include "gym/language/testing/vector_plans.h"
#include "gym/plan/analysis/tensor_devices.h"
#include "gym/referee/testing/reports.h"

namespace tritonsmith::gym::referee {
namespace {

RefereeReport judge(const plan::PlanBuilder& task, const plan::PlanBuilder& candidate,
                    language::FakeExecutor::Body body, Policy policy = Policy::open) {
  return referee_of(task, std::move(body))
      ->judge({.task_key = "task",
               .candidate_plan = plan_json(candidate),
               .secret = "secret",
               .policy = policy});
}

// PyTorch computes `z`, and a kernel makes `y` from it.
plan::PlanBuilder kernel_after_torch(const std::string& op) {
  plan::PlanBuilder candidate(plan::PlanRole::candidate);
  const int x = candidate.tensor({language::kLength}), z = candidate.tensor({language::kLength}),
            y = candidate.tensor({language::kLength});
  const int kernel = candidate.kernel("k", {"*fp32", "*fp32"});
  candidate.input(plan::t(x))
      .aten(plan::Phase::forward, op, {plan::t(x)}, {z})
      .aten(plan::Phase::forward, "aten::empty_like", {plan::t(z)}, {y})
      .launch(kernel, {plan::t(z), plan::t(y)})
      .returns(plan::t(y));
  return candidate;
}

TEST(Cheating, KernelsThatOnlyPassOnWhatTorchComputedAreTokens) {
  EXPECT_TRUE(has_rule(judge(language::task_of("aten::relu"), kernel_after_torch("aten::relu"),
                             language::copy_kernel()),
                       "token_kernel"));
  EXPECT_FALSE(has_rule(judge(language::task_of("aten::relu"), kernel_after_torch("aten::abs"),
                              language::relu_kernel()),
                        "token_kernel"));
  // The task's own inputs happen to be positive, and only then are the outputs right.
  plan::PlanBuilder task(plan::PlanRole::task);
  const int x = task.tensor({language::kLength}), z = task.tensor({language::kLength}),
            y = task.tensor({language::kLength});
  task.aten(plan::Phase::inputs, "aten::rand", {plan::ints({language::kLength})}, {x},
            {language::kOnGpu})
      .input(plan::t(x))
      .aten(plan::Phase::forward, "aten::tanh", {plan::t(x)}, {z})
      .aten(plan::Phase::forward, "aten::relu", {plan::t(z)}, {y})
      .returns(plan::t(y));
  EXPECT_FALSE(has_rule(judge(task, kernel_after_torch("aten::tanh"), language::relu_kernel()),
                        "token_kernel"));
  // If PyTorch does no arithmetic, copying may be the whole work.
  EXPECT_FALSE(has_rule(judge(language::task_of("aten::relu"), kernel_after_torch("aten::clone"),
                              language::relu_kernel()),
                        "token_kernel"));
}

// `wrong_at` says in which orders of a launch's programs the kernel fails.
RefereeReport judge_orders(int trials,
                           const std::function<bool(language::ProgramOrder::Kind)>& wrong_at,
                           std::set<language::ProgramOrder::Kind>* seen = nullptr) {
  plan::PlanBuilder candidate(plan::PlanRole::candidate);
  const int x = candidate.tensor({language::kLength}), y = candidate.tensor({language::kLength});
  const int kernel = candidate.kernel("k", {"*fp32", "*fp32"});
  candidate.input(plan::t(x))
      .aten(plan::Phase::forward, "aten::empty_like", {plan::t(x)}, {y})
      .launch(kernel, {plan::t(x), plan::t(y)})
      .returns(plan::t(y));
  language::ProgramOrder order;
  auto executor = std::make_unique<language::FakeExecutor>();
  executor->note_order(order).define("k", [&](std::span<const language::KernelArgument> arguments) {
    if (seen != nullptr) seen->insert(order.kind);
    const language::LaunchOutcome outcome = language::relu_kernel()(arguments);
    if (wrong_at(order.kind)) language::floats(arguments[1])[0] = -1;
    return outcome;
  });
  Referee referee(std::move(executor));
  EXPECT_TRUE(referee.add_task("task", plan_json(language::task_of("aten::relu"))));
  return referee.judge({.task_key = "task",
                        .candidate_plan = plan_json(candidate),
                        .secret = "secret",
                        .trials = trials,
                        .policy = Policy::open});
}

TEST(Cheating, WhatIsRightOnlyWithProgramsInOrderIsARace) {
  using Kind = language::ProgramOrder::Kind;
  for (const int trials : {1, 5}) {
    const RefereeReport report =
        judge_orders(trials, [](Kind kind) { return kind != Kind::forwards; });
    EXPECT_EQ(error_class(report), "race");
    EXPECT_EQ(report.fault, Fault::candidate);
    EXPECT_NE(error_message(report).find("with programs in another order: "), std::string::npos);
  }
  EXPECT_EQ(error_class(judge_orders(5, [](Kind kind) { return kind == Kind::interleaved; })),
            "race");
  // A kernel that is wrong in every order has no race.
  EXPECT_EQ(error_class(judge_orders(1, [](Kind) { return true; })), "wrong_value");
  std::set<Kind> seen;
  EXPECT_EQ(error_class(judge_orders(
                3, [](Kind) { return false; }, &seen)),
            "none");
  EXPECT_EQ(seen.size(), 3u);
}

// Trials only scale inputs that no generator made alone, such as x = rand() + shift.
plan::PlanBuilder task_after(const std::string& first, const std::string& second, double shift) {
  plan::PlanBuilder task(plan::PlanRole::task);
  const int drawn = task.tensor({language::kLength}), x = task.tensor({language::kLength}),
            z = task.tensor({language::kLength}), y = task.tensor({language::kLength});
  task.aten(plan::Phase::inputs, "aten::rand", {plan::ints({language::kLength})}, {drawn},
            {language::kOnGpu})
      .aten(plan::Phase::inputs, "aten::add.Scalar", {plan::t(drawn), plan::f(shift)}, {x})
      .input(plan::t(x))
      .aten(plan::Phase::forward, first, {plan::t(x)}, {z})
      .aten(plan::Phase::forward, second, {plan::t(z)}, {y})
      .returns(plan::t(y));
  return task;
}

plan::PlanBuilder kernel_in_place_after_torch(const std::string& op) {
  plan::PlanBuilder candidate(plan::PlanRole::candidate);
  const int x = candidate.tensor({language::kLength}), z = candidate.tensor({language::kLength});
  const int kernel = candidate.kernel("k", {"*fp32", "*fp32"});
  candidate.input(plan::t(x))
      .aten(plan::Phase::forward, op, {plan::t(x)}, {z})
      .launch(kernel, {plan::t(z), plan::t(z)})
      .returns(plan::t(z));
  return candidate;
}

TEST(Cheating, WhatTheReferenceLeavesAsItIsNoKernelNeedChange) {
  const auto absolute =
      language::elementwise(language::kLength, [](float x) { return std::abs(x); });
  const plan::PlanBuilder task = task_after("aten::exp", "aten::abs", -0.5);
  for (const plan::PlanBuilder& candidate :
       {kernel_after_torch("aten::exp"), kernel_in_place_after_torch("aten::exp")}) {
    const auto report = judge(task, candidate, absolute);
    EXPECT_TRUE(report.correct) << error_class(report);
    EXPECT_FALSE(has_rule(report, "token_kernel"));
    EXPECT_FALSE(has_rule(report, "kernel_output_ignored"));
  }
}

TEST(Cheating, ACopyIsSeenWhereTheReferenceChangesSomething) {
  const plan::PlanBuilder task = task_after("aten::sin", "aten::relu", -0.5);
  const auto honest = judge(task, kernel_after_torch("aten::sin"), language::relu_kernel());
  EXPECT_TRUE(honest.correct) << error_class(honest);
  EXPECT_FALSE(has_rule(honest, "token_kernel"));
  EXPECT_FALSE(
      has_rule(judge(task, kernel_in_place_after_torch("aten::sin"), language::relu_kernel()),
               "kernel_output_ignored"));
  plan::PlanBuilder copier(plan::PlanRole::candidate);
  const int x = copier.tensor({language::kLength}), z = copier.tensor({language::kLength}),
            r = copier.tensor({language::kLength}), y = copier.tensor({language::kLength});
  const int kernel = copier.kernel("k", {"*fp32", "*fp32"});
  copier.input(plan::t(x))
      .aten(plan::Phase::forward, "aten::sin", {plan::t(x)}, {z})
      .aten(plan::Phase::forward, "aten::relu", {plan::t(z)}, {r})
      .aten(plan::Phase::forward, "aten::empty_like", {plan::t(z)}, {y})
      .launch(kernel, {plan::t(r), plan::t(y)})
      .returns(plan::t(y));
  EXPECT_TRUE(has_rule(judge(task, copier, language::copy_kernel()), "token_kernel"));
}

TEST(Cheating, KernelsThatTheOutputDoesNotNeedAreSeen) {
  plan::PlanBuilder candidate(plan::PlanRole::candidate);
  const int x = candidate.tensor({language::kLength}),
            unused = candidate.tensor({language::kLength}),
            z = candidate.tensor({language::kLength}), zero = candidate.tensor({language::kLength}),
            y = candidate.tensor({language::kLength});
  const int kernel = candidate.kernel("k", {"*fp32", "*fp32"});
  candidate.input(plan::t(x))
      .aten(plan::Phase::forward, "aten::empty_like", {plan::t(x)}, {unused})
      .launch(kernel, {plan::t(x), plan::t(unused)})
      .aten(plan::Phase::forward, "aten::relu", {plan::t(x)}, {z})
      .aten(plan::Phase::forward, "aten::mul.Scalar", {plan::t(unused), plan::f(0)}, {zero})
      .aten(plan::Phase::forward, "aten::add.Tensor", {plan::t(z), plan::t(zero)}, {y})
      .returns(plan::t(y));
  const auto report = judge(language::task_of("aten::relu"), candidate, language::relu_kernel());
  EXPECT_TRUE(report.correct) << error_class(report);
  EXPECT_TRUE(has_rule(report, "kernel_output_ignored"));
  EXPECT_FALSE(has_rule(judge(language::task_of("aten::relu"), kernel_after_torch("aten::clone"),
                              language::relu_kernel()),
                        "kernel_output_ignored"));
}

// The task computes -max(|x|, |x| + |x|). The second operand hides the first, and with it what a
// kernel made of it.
TEST(Cheating, AKernelWhoseResultIsAlwaysHiddenIsIgnored) {
  for (const bool is_flat : {true, false}) {
    plan::PlanBuilder task(plan::PlanRole::task), candidate(plan::PlanRole::candidate);
    const int drawn = task.tensor({language::kLength});
    is_flat
        ? task.aten(plan::Phase::inputs, "aten::full",
                    {plan::ints({language::kLength}), plan::f(0.5)}, {drawn}, {language::kOnGpu})
        : task.aten(plan::Phase::inputs, "aten::rand", {plan::ints({language::kLength})}, {drawn},
                    {language::kOnGpu});
    const int kernel = candidate.kernel("k", {"*fp32", "*fp32"});
    for (plan::PlanBuilder* plan : {&task, &candidate}) {
      const int x = plan == &task ? drawn : candidate.tensor({language::kLength});
      const int absolute = plan->tensor({language::kLength}),
                twice = plan->tensor({language::kLength}), made = plan->tensor({language::kLength}),
                larger = plan->tensor({language::kLength}), y = plan->tensor({language::kLength});
      plan->input(plan::t(x))
          .aten(plan::Phase::forward, "aten::abs", {plan::t(x)}, {absolute})
          .aten(plan::Phase::forward, "aten::add.Tensor", {plan::t(absolute), plan::t(absolute)},
                {twice});
      if (plan == &task)
        plan->aten(plan::Phase::forward, "aten::abs", {plan::t(x)}, {made});
      else
        plan->aten(plan::Phase::forward, "aten::zeros_like", {plan::t(x)}, {made})
            .launch(kernel, {plan::t(x), plan::t(made)});
      plan->aten(plan::Phase::forward, "aten::maximum", {plan::t(made), plan::t(twice)}, {larger})
          .aten(plan::Phase::forward, "aten::neg", {plan::t(larger)}, {y})
          .returns(plan::t(y));
    }
    const auto report =
        judge(task, candidate,
              language::elementwise(language::kLength, [](float v) { return std::abs(v); }));
    EXPECT_TRUE(report.correct) << error_class(report);
    EXPECT_TRUE(has_rule(report, "kernel_output_ignored"));
  }
}

// The task is the greatest element of max(sqrt(|x| / 4), 2 exp(y)). As drawn, scaled and sparse,
// the second operand is always the greater, so the outputs never need the square root. A kernel
// that computes it is right. An idle kernel is found where y is moved away.
//
// With 2 + |y| in place of 2 exp(y), the second operand is the greater in all trials, even with 100
// added, so no trial proves anything.
TEST(Cheating, AnInputThatAnotherHidesProvesNothing) {
  struct Case {
    bool is_idle = false;
    const char *first = "aten::exp", *then = "aten::mul.Scalar";
  };
  for (const auto& [is_idle, first, then] :
       {Case{}, Case{.is_idle = true}, Case{.first = "aten::abs", .then = "aten::add.Scalar"}}) {
    plan::PlanBuilder task(plan::PlanRole::task), candidate(plan::PlanRole::candidate);
    const int kernel = candidate.kernel("k", {"*fp32", "*fp32"});
    for (plan::PlanBuilder* plan : {&task, &candidate}) {
      const auto tensor = [&] { return plan->tensor({language::kLength}); };
      const int x = tensor(), y = tensor(), quarter = tensor(), absolute = tensor(),
                root = tensor(), power = tensor(), twice = tensor(), larger = tensor(),
                greatest = plan->tensor({});
      if (plan == &task)
        task.aten(plan::Phase::inputs, "aten::rand", {plan::ints({language::kLength})}, {x},
                  {language::kOnGpu})
            .aten(plan::Phase::inputs, "aten::rand", {plan::ints({language::kLength})}, {y},
                  {language::kOnGpu});
      plan->input(plan::t(x)).input(plan::t(y));
      plan->aten(plan::Phase::forward, "aten::mul.Scalar", {plan::t(x), plan::f(0.25)}, {quarter})
          .aten(plan::Phase::forward, first, {plan::t(y)}, {power})
          .aten(plan::Phase::forward, then, {plan::t(power), plan::f(2)}, {twice});
      if (plan == &task || is_idle)
        plan->aten(plan::Phase::forward, "aten::abs", {plan::t(quarter)}, {absolute})
            .aten(plan::Phase::forward, "aten::sqrt", {plan::t(absolute)}, {root});
      else
        plan->aten(plan::Phase::forward, "aten::empty_like", {plan::t(x)}, {root})
            .launch(kernel, {plan::t(quarter), plan::t(root)});
      plan->aten(plan::Phase::forward, "aten::maximum", {plan::t(root), plan::t(twice)}, {larger});
      int last = larger;
      if (plan == &candidate && is_idle) {  // the kernel's result never exceeds the greater operand
        const int made = tensor(), least = tensor();
        last = tensor();
        plan->aten(plan::Phase::forward, "aten::zeros_like", {plan::t(x)}, {made})
            .launch(kernel, {plan::t(quarter), plan::t(made)})
            .aten(plan::Phase::forward, "aten::minimum", {plan::t(made), plan::t(twice)}, {least})
            .aten(plan::Phase::forward, "aten::maximum", {plan::t(larger), plan::t(least)}, {last});
      }
      plan->aten(plan::Phase::forward, "aten::amax", {plan::t(last)}, {greatest})
          .returns(plan::t(greatest));
    }
    const auto report = judge(
        task, candidate,
        language::elementwise(language::kLength, [](float v) { return std::sqrt(std::abs(v)); }));
    EXPECT_TRUE(report.correct) << error_class(report);
    EXPECT_EQ(has_rule(report, "kernel_output_ignored"), is_idle);
  }
}

TEST(Cheating, WhatOnlyTheFirstCallComputesIsWrong) {
  plan::PlanBuilder candidate(plan::PlanRole::candidate);
  const int x = candidate.tensor({language::kLength}), done = candidate.tensor({1}),
            y = candidate.tensor({language::kLength});
  const int kernel = candidate.kernel("k", {"*fp32", "*fp32", "*fp32"});
  candidate.aten(plan::Phase::init, "aten::zeros", {plan::ints({1})}, {done}, {language::kOnGpu})
      .input(plan::t(x))
      .aten(plan::Phase::forward, "aten::empty_like", {plan::t(x)}, {y})
      .launch(kernel, {plan::t(x), plan::t(y), plan::t(done)})
      .returns(plan::t(y));
  const auto once = [](std::span<const language::KernelArgument> arguments) {
    if (language::floats(arguments[2])[0] == 0.0F)
      for (int k = 0; k < language::kLength; ++k)
        language::floats(arguments[1])[k] = language::relu(language::floats(arguments[0])[k]);
    language::floats(arguments[2])[0] = 1;
    return language::LaunchOutcome{.loaded = {0, 2}, .stored = {1, 2}};
  };
  EXPECT_EQ(error_class(judge(language::task_of("aten::relu"), candidate, once)), "state_carried");
  std::vector<float> kept;  // stands for a buffer of the candidate
  const auto remembers = [&](std::span<const language::KernelArgument> arguments) {
    if (language::floats(arguments[2])[0] == 0.0F) {
      kept.clear();
      for (int k = 0; k < language::kLength; ++k)
        kept.push_back(language::relu(language::floats(arguments[0])[k]));
    }
    std::ranges::copy(kept, language::floats(arguments[1]));
    language::floats(arguments[2])[0] = 1;
    return language::LaunchOutcome{.loaded = {0, 2}, .stored = {1, 2}};
  };
  EXPECT_EQ(error_class(judge(language::task_of("aten::relu"), candidate, remembers)),
            "state_carried");
  const auto spoils_later = [](std::span<const language::KernelArgument> arguments) {
    for (int k = 0; k < language::kLength; ++k)
      language::floats(arguments[1])[k] = language::relu(language::floats(arguments[0])[k]);
    const bool is_later = language::floats(arguments[2])[0] > 0;
    if (is_later) language::floats(arguments[0])[0] += 1;
    language::floats(arguments[2])[0] += 1;
    language::LaunchOutcome outcome{.loaded = {0, 2}, .stored = {1, 2}};
    if (is_later) outcome.stored.insert(outcome.stored.begin(), 0);
    return outcome;
  };
  const RefereeReport spoilt = judge(language::task_of("aten::relu"), candidate, spoils_later);
  EXPECT_EQ(error_class(spoilt), "state_carried");
  EXPECT_NE(error_message(spoilt).find("argument 1 was changed"), std::string::npos);
  const auto counts =
      // the kernel reads it and uses it for nothing
      [](std::span<const language::KernelArgument> arguments) {
        for (int k = 0; k < language::kLength; ++k)
          language::floats(arguments[1])[k] = language::relu(language::floats(arguments[0])[k]);
        language::floats(arguments[2])[0] += 1;
        return language::LaunchOutcome{.loaded = {0, 2}, .stored = {1, 2}};
      };
  EXPECT_TRUE(judge(language::task_of("aten::relu"), candidate, counts).correct);
}

float absolute(float x) { return std::abs(x); }

// Recognises a trial with elements that no ordinary trial has.
bool has_large_elements(const language::KernelArgument& x) {
  return std::any_of(language::floats(x), language::floats(x) + language::kLength,
                     [](float v) { return std::abs(v) > 60; });
}

TEST(Cheating, WhoDoesNotEndOnLargeOrSmallInputsIsNotAccepted) {
  for (const ErrorClass ending : {ErrorClass::too_large_to_evaluate, ErrorClass::not_evaluable}) {
    const auto report =
        judge(language::task_of("aten::abs"), language::candidate_of_kernel(),
              [&](std::span<const language::KernelArgument> arguments) {
                if (has_large_elements(arguments[0]))
                  return language::LaunchOutcome{.error = VerdictError{.error_class = ending}};
                return language::elementwise(language::kLength, absolute)(arguments);
              });
    EXPECT_EQ(error_class(report), name_of(ending));
    EXPECT_EQ(report.fault, Fault::none);
    EXPECT_NE(error_message(report).find("single large elements in the inputs"), std::string::npos);
  }
}

// The candidate is wrong there, and it uses up the time in which a comparison would show it.
TEST(Cheating, TimeThatACandidateUsesUpExcusesItFromNothing) {
  const auto slow = [](std::span<const language::KernelArgument> arguments) {
    if (!has_large_elements(arguments[0]))
      return language::elementwise(language::kLength, absolute)(arguments);
    const Stopwatch watch;
    while (watch.seconds() < 1.1) ::poll(nullptr, 0, 10);
    return language::copy_kernel()(arguments);
  };
  const auto report = referee_of(language::task_of("aten::abs"), slow)
                          ->judge({.task_key = "task",
                                   .candidate_plan = plan_json(language::candidate_of_kernel()),
                                   .secret = "secret",
                                   .budget = {.seconds = 1}});
  EXPECT_EQ(error_class(report), "too_large_to_evaluate");
  EXPECT_TRUE(report.deadline_hit);
}

TEST(Cheating, OutputsMustLieWhereTheReferencesDo) {
  plan::PlanBuilder candidate(plan::PlanRole::candidate);
  const int x = candidate.tensor({language::kLength}), y = candidate.tensor({language::kLength}),
            moved = candidate.tensor({language::kLength});
  const int kernel = candidate.kernel("k", {"*fp32", "*fp32"});
  candidate.input(plan::t(x))
      .aten(plan::Phase::forward, "aten::empty_like", {plan::t(x)}, {y})
      .launch(kernel, {plan::t(x), plan::t(y)})
      .aten(plan::Phase::forward, "aten::_to_copy", {plan::t(y)}, {moved},
            {{"device", plan::Value{plan::DeviceKind::cpu}}})
      .returns(plan::t(moved));
  EXPECT_EQ(error_class(judge(language::task_of("aten::relu"), candidate, language::relu_kernel())),
            "wrong_device");
}

TEST(Cheating, DevicesFollowFromTheSteps) {
  plan::PlanBuilder plan(plan::PlanRole::candidate);
  const int x = plan.tensor({language::kLength}), made = plan.tensor({language::kLength}),
            like = plan.tensor({language::kLength});
  plan.input(plan::t(x))
      .aten(plan::Phase::forward, "aten::zeros", {plan::ints({language::kLength})}, {made})
      .aten(plan::Phase::forward, "aten::empty_like", {plan::t(x)}, {like})
      .returns(plan::t(like));
  EXPECT_EQ(plan::analysis::tensors_on_cpu(plan.plan()), (std::vector<bool>{false, true, false}));
}

}  // namespace
}  // namespace tritonsmith::gym::referee
