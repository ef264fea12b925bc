// Right outputs for wrong reasons.
#include <gtest/gtest.h>
#include <poll.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <set>

#include "base/clock.h"
#include "gym/referee/devices.h"
#include "gym/referee/testing/reports.h"
#include "gym/referee/testing/vector_plans.h"

namespace tritonsmith::gym {
namespace {

RefereeReport judge(const PlanBuilder& task, const PlanBuilder& candidate, FakeExecutor::Body body,
                    Policy policy = Policy::open) {
  return referee_of(task, std::move(body))
      ->judge({.task_key = "task",
               .candidate_plan = plan_json(candidate),
               .secret = "secret",
               .policy = policy});
}

// Torch computes `z`; a kernel makes `y` of it.
PlanBuilder kernel_after_torch(const std::string& op) {
  PlanBuilder candidate(PlanRole::candidate);
  const int x = candidate.tensor({kLength}), z = candidate.tensor({kLength}),
            y = candidate.tensor({kLength});
  const int kernel = candidate.kernel("k", {"*fp32", "*fp32"});
  candidate.input(t(x))
      .aten(Phase::forward, op, {t(x)}, {z})
      .aten(Phase::forward, "aten::empty_like", {t(z)}, {y})
      .launch(kernel, {t(z), t(y)})
      .returns(t(y));
  return candidate;
}

TEST(Cheating, KernelsThatOnlyPassOnWhatTorchComputedAreTokens) {
  EXPECT_TRUE(
      has_rule(judge(task_of("aten::relu"), kernel_after_torch("aten::relu"), copy_kernel()),
               "token_kernel"));
  EXPECT_FALSE(
      has_rule(judge(task_of("aten::relu"), kernel_after_torch("aten::abs"), relu_kernel()),
               "token_kernel"));
  // Only where the task's own inputs happen to be positive.
  PlanBuilder task(PlanRole::task);
  const int x = task.tensor({kLength}), z = task.tensor({kLength}), y = task.tensor({kLength});
  task.aten(Phase::inputs, "aten::rand", {ints({kLength})}, {x}, {kOnGpu})
      .input(t(x))
      .aten(Phase::forward, "aten::tanh", {t(x)}, {z})
      .aten(Phase::forward, "aten::relu", {t(z)}, {y})
      .returns(t(y));
  EXPECT_FALSE(
      has_rule(judge(task, kernel_after_torch("aten::tanh"), relu_kernel()), "token_kernel"));
  // Without arithmetic in torch, copying may be the work itself.
  EXPECT_FALSE(
      has_rule(judge(task_of("aten::relu"), kernel_after_torch("aten::clone"), relu_kernel()),
               "token_kernel"));
}

// `wrong_at`: which orders of a launch's programs make the kernel fail.
RefereeReport judge_orders(int trials, const std::function<bool(ProgramOrder::Kind)>& wrong_at,
                           std::set<ProgramOrder::Kind>* seen = nullptr) {
  PlanBuilder candidate(PlanRole::candidate);
  const int x = candidate.tensor({kLength}), y = candidate.tensor({kLength});
  const int kernel = candidate.kernel("k", {"*fp32", "*fp32"});
  candidate.input(t(x))
      .aten(Phase::forward, "aten::empty_like", {t(x)}, {y})
      .launch(kernel, {t(x), t(y)})
      .returns(t(y));
  ProgramOrder order;
  auto executor = std::make_unique<FakeExecutor>();
  executor->note_order(order).define("k", [&](std::span<const KernelArgument> arguments) {
    if (seen != nullptr) seen->insert(order.kind);
    const LaunchOutcome outcome = relu_kernel()(arguments);
    if (wrong_at(order.kind)) floats(arguments[1])[0] = -1;
    return outcome;
  });
  Referee referee(std::move(executor));
  EXPECT_TRUE(referee.add_task("task", plan_json(task_of("aten::relu"))));
  return referee.judge({.task_key = "task",
                        .candidate_plan = plan_json(candidate),
                        .secret = "secret",
                        .trials = trials,
                        .policy = Policy::open});
}

TEST(Cheating, WhatIsRightOnlyWithProgramsInOrderIsARace) {
  using Kind = ProgramOrder::Kind;
  for (const int trials : {1, 5}) {
    const RefereeReport report =
        judge_orders(trials, [](Kind kind) { return kind != Kind::forwards; });
    EXPECT_EQ(error_class(report), "race");
    EXPECT_EQ(report.fault, Fault::candidate);
    EXPECT_NE(error_message(report).find("with programs in another order: "), std::string::npos);
  }
  EXPECT_EQ(error_class(judge_orders(5, [](Kind kind) { return kind == Kind::interleaved; })),
            "race");
  // Wrong anyhow is no race.
  EXPECT_EQ(error_class(judge_orders(1, [](Kind) { return true; })), "wrong_value");
  std::set<Kind> seen;
  EXPECT_EQ(error_class(judge_orders(
                3, [](Kind) { return false; }, &seen)),
            "none");
  EXPECT_EQ(seen.size(), 3u);
}

// Inputs that no generator made alone are only scaled: here x = rand() + shift.
PlanBuilder task_after(const std::string& first, const std::string& second, double shift) {
  PlanBuilder task(PlanRole::task);
  const int drawn = task.tensor({kLength}), x = task.tensor({kLength}), z = task.tensor({kLength}),
            y = task.tensor({kLength});
  task.aten(Phase::inputs, "aten::rand", {ints({kLength})}, {drawn}, {kOnGpu})
      .aten(Phase::inputs, "aten::add.Scalar", {t(drawn), f(shift)}, {x})
      .input(t(x))
      .aten(Phase::forward, first, {t(x)}, {z})
      .aten(Phase::forward, second, {t(z)}, {y})
      .returns(t(y));
  return task;
}

PlanBuilder kernel_in_place_after_torch(const std::string& op) {
  PlanBuilder candidate(PlanRole::candidate);
  const int x = candidate.tensor({kLength}), z = candidate.tensor({kLength});
  const int kernel = candidate.kernel("k", {"*fp32", "*fp32"});
  candidate.input(t(x))
      .aten(Phase::forward, op, {t(x)}, {z})
      .launch(kernel, {t(z), t(z)})
      .returns(t(z));
  return candidate;
}

TEST(Cheating, WhatTheReferenceLeavesAsItIsNoKernelNeedChange) {
  const auto absolute = elementwise(kLength, [](float x) { return std::abs(x); });
  const PlanBuilder task = task_after("aten::exp", "aten::abs", -0.5);
  for (const PlanBuilder& candidate :
       {kernel_after_torch("aten::exp"), kernel_in_place_after_torch("aten::exp")}) {
    const auto report = judge(task, candidate, absolute);
    EXPECT_TRUE(report.correct) << error_class(report);
    EXPECT_FALSE(has_rule(report, "token_kernel"));
    EXPECT_FALSE(has_rule(report, "kernel_output_ignored"));
  }
}

// x is positive: only where it is negated a relu differs from a copy.
TEST(Cheating, ACopyIsSeenWhereTheReferenceChangesSomething) {
  const PlanBuilder task = task_after("aten::sin", "aten::relu", 0.5);
  const auto honest = judge(task, kernel_after_torch("aten::sin"), relu_kernel());
  EXPECT_TRUE(honest.correct) << error_class(honest);
  EXPECT_FALSE(has_rule(honest, "token_kernel"));
  EXPECT_FALSE(has_rule(judge(task, kernel_in_place_after_torch("aten::sin"), relu_kernel()),
                        "kernel_output_ignored"));
  PlanBuilder copier(PlanRole::candidate);
  const int x = copier.tensor({kLength}), z = copier.tensor({kLength}),
            r = copier.tensor({kLength}), y = copier.tensor({kLength});
  const int kernel = copier.kernel("k", {"*fp32", "*fp32"});
  copier.input(t(x))
      .aten(Phase::forward, "aten::sin", {t(x)}, {z})
      .aten(Phase::forward, "aten::relu", {t(z)}, {r})
      .aten(Phase::forward, "aten::empty_like", {t(z)}, {y})
      .launch(kernel, {t(r), t(y)})
      .returns(t(y));
  EXPECT_TRUE(has_rule(judge(task, copier, copy_kernel()), "token_kernel"));
}

TEST(Cheating, KernelsThatTheOutputDoesNotNeedAreSeen) {
  PlanBuilder candidate(PlanRole::candidate);
  const int x = candidate.tensor({kLength}), unused = candidate.tensor({kLength}),
            z = candidate.tensor({kLength}), zero = candidate.tensor({kLength}),
            y = candidate.tensor({kLength});
  const int kernel = candidate.kernel("k", {"*fp32", "*fp32"});
  candidate.input(t(x))
      .aten(Phase::forward, "aten::empty_like", {t(x)}, {unused})
      .launch(kernel, {t(x), t(unused)})
      .aten(Phase::forward, "aten::relu", {t(x)}, {z})
      .aten(Phase::forward, "aten::mul.Scalar", {t(unused), f(0)}, {zero})
      .aten(Phase::forward, "aten::add.Tensor", {t(z), t(zero)}, {y})
      .returns(t(y));
  const auto report = judge(task_of("aten::relu"), candidate, relu_kernel());
  EXPECT_TRUE(report.correct) << error_class(report);
  EXPECT_TRUE(has_rule(report, "kernel_output_ignored"));
  EXPECT_FALSE(
      has_rule(judge(task_of("aten::relu"), kernel_after_torch("aten::clone"), relu_kernel()),
               "kernel_output_ignored"));
}

// -max(|x|, |x| + |x|): the second hides the first, and with it what a kernel made of it.
TEST(Cheating, WhatOneValueThroughoutHidesProvesNothing) {
  for (const bool is_flat : {true, false}) {
    PlanBuilder task(PlanRole::task), candidate(PlanRole::candidate);
    const int drawn = task.tensor({kLength});
    is_flat ? task.aten(Phase::inputs, "aten::full", {ints({kLength}), f(0.5)}, {drawn}, {kOnGpu})
            : task.aten(Phase::inputs, "aten::rand", {ints({kLength})}, {drawn}, {kOnGpu});
    const int kernel = candidate.kernel("k", {"*fp32", "*fp32"});
    for (PlanBuilder* plan : {&task, &candidate}) {
      const int x = plan == &task ? drawn : candidate.tensor({kLength});
      const int absolute = plan->tensor({kLength}), twice = plan->tensor({kLength}),
                made = plan->tensor({kLength}), larger = plan->tensor({kLength}),
                y = plan->tensor({kLength});
      plan->input(t(x))
          .aten(Phase::forward, "aten::abs", {t(x)}, {absolute})
          .aten(Phase::forward, "aten::add.Tensor", {t(absolute), t(absolute)}, {twice});
      if (plan == &task)
        plan->aten(Phase::forward, "aten::abs", {t(x)}, {made});
      else
        plan->aten(Phase::forward, "aten::zeros_like", {t(x)}, {made})
            .launch(kernel, {t(x), t(made)});
      plan->aten(Phase::forward, "aten::maximum", {t(made), t(twice)}, {larger})
          .aten(Phase::forward, "aten::neg", {t(larger)}, {y})
          .returns(t(y));
    }
    const auto report =
        judge(task, candidate, elementwise(kLength, [](float v) { return std::abs(v); }));
    EXPECT_TRUE(report.correct) << error_class(report);
    EXPECT_EQ(has_rule(report, "kernel_output_ignored"), !is_flat);
  }
}

// The greatest of max(sqrt(|x| / 4), 2 exp(y)): the second is always the greater as drawn, scaled
// and sparse, so that nothing needs the square root. A kernel for it is right, an idle one is seen
// where y is moved away.
// With 2 + |y| in place of 2 exp(y) it is the greater in all trials, with 100 added as well, and
// nothing is ever seen.
TEST(Cheating, AnInputThatAnotherHidesProvesNothing) {
  struct Case {
    bool is_idle = false;
    const char *first = "aten::exp", *then = "aten::mul.Scalar";
  };
  for (const auto& [is_idle, first, then] :
       {Case{}, Case{.is_idle = true}, Case{.first = "aten::abs", .then = "aten::add.Scalar"}}) {
    PlanBuilder task(PlanRole::task), candidate(PlanRole::candidate);
    const int kernel = candidate.kernel("k", {"*fp32", "*fp32"});
    for (PlanBuilder* plan : {&task, &candidate}) {
      const auto tensor = [&] { return plan->tensor({kLength}); };
      const int x = tensor(), y = tensor(), quarter = tensor(), absolute = tensor(),
                root = tensor(), power = tensor(), twice = tensor(), larger = tensor(),
                greatest = plan->tensor({});
      if (plan == &task)
        task.aten(Phase::inputs, "aten::rand", {ints({kLength})}, {x}, {kOnGpu})
            .aten(Phase::inputs, "aten::rand", {ints({kLength})}, {y}, {kOnGpu});
      plan->input(t(x)).input(t(y));
      plan->aten(Phase::forward, "aten::mul.Scalar", {t(x), f(0.25)}, {quarter})
          .aten(Phase::forward, first, {t(y)}, {power})
          .aten(Phase::forward, then, {t(power), f(2)}, {twice});
      if (plan == &task || is_idle)
        plan->aten(Phase::forward, "aten::abs", {t(quarter)}, {absolute})
            .aten(Phase::forward, "aten::sqrt", {t(absolute)}, {root});
      else
        plan->aten(Phase::forward, "aten::empty_like", {t(x)}, {root})
            .launch(kernel, {t(quarter), t(root)});
      plan->aten(Phase::forward, "aten::maximum", {t(root), t(twice)}, {larger});
      int last = larger;
      if (plan == &candidate && is_idle) {  // what it makes is never above the greater
        const int made = tensor(), least = tensor();
        last = tensor();
        plan->aten(Phase::forward, "aten::zeros_like", {t(x)}, {made})
            .launch(kernel, {t(quarter), t(made)})
            .aten(Phase::forward, "aten::minimum", {t(made), t(twice)}, {least})
            .aten(Phase::forward, "aten::maximum", {t(larger), t(least)}, {last});
      }
      plan->aten(Phase::forward, "aten::amax", {t(last)}, {greatest}).returns(t(greatest));
    }
    const auto report = judge(task, candidate,
                              elementwise(kLength, [](float v) { return std::sqrt(std::abs(v)); }));
    EXPECT_TRUE(report.correct) << error_class(report);
    EXPECT_EQ(has_rule(report, "kernel_output_ignored"), is_idle);
  }
}

TEST(Cheating, WhatOnlyTheFirstCallComputesIsWrong) {
  PlanBuilder candidate(PlanRole::candidate);
  const int x = candidate.tensor({kLength}), done = candidate.tensor({1}),
            y = candidate.tensor({kLength});
  const int kernel = candidate.kernel("k", {"*fp32", "*fp32", "*fp32"});
  candidate.aten(Phase::init, "aten::zeros", {ints({1})}, {done}, {kOnGpu})
      .input(t(x))
      .aten(Phase::forward, "aten::empty_like", {t(x)}, {y})
      .launch(kernel, {t(x), t(y), t(done)})
      .returns(t(y));
  const auto once = [](std::span<const KernelArgument> arguments) {
    if (floats(arguments[2])[0] == 0.0F)
      for (int k = 0; k < kLength; ++k) floats(arguments[1])[k] = relu(floats(arguments[0])[k]);
    floats(arguments[2])[0] = 1;
    return LaunchOutcome{.loaded = {0, 2}, .stored = {1, 2}};
  };
  EXPECT_EQ(error_class(judge(task_of("aten::relu"), candidate, once)), "state_carried");
  std::vector<float> kept;  // as a buffer of its own would
  const auto remembers = [&](std::span<const KernelArgument> arguments) {
    if (floats(arguments[2])[0] == 0.0F) {
      kept.clear();
      for (int k = 0; k < kLength; ++k) kept.push_back(relu(floats(arguments[0])[k]));
    }
    std::ranges::copy(kept, floats(arguments[1]));
    floats(arguments[2])[0] = 1;
    return LaunchOutcome{.loaded = {0, 2}, .stored = {1, 2}};
  };
  EXPECT_EQ(error_class(judge(task_of("aten::relu"), candidate, remembers)), "state_carried");
  const auto spoils_later = [](std::span<const KernelArgument> arguments) {
    for (int k = 0; k < kLength; ++k) floats(arguments[1])[k] = relu(floats(arguments[0])[k]);
    if (floats(arguments[2])[0] > 0) floats(arguments[0])[0] += 1;
    floats(arguments[2])[0] += 1;
    return LaunchOutcome{.loaded = {0, 2}, .stored = {0, 1, 2}};
  };
  const RefereeReport spoilt = judge(task_of("aten::relu"), candidate, spoils_later);
  EXPECT_EQ(error_class(spoilt), "state_carried");
  EXPECT_NE(error_message(spoilt).find("input 0 was changed"), std::string::npos);
  const auto counts = [](std::span<const KernelArgument> arguments) {  // and uses it for nothing
    for (int k = 0; k < kLength; ++k) floats(arguments[1])[k] = relu(floats(arguments[0])[k]);
    floats(arguments[2])[0] += 1;
    return LaunchOutcome{.loaded = {0, 2}, .stored = {1, 2}};
  };
  EXPECT_TRUE(judge(task_of("aten::relu"), candidate, counts).correct);
}

float absolute(float x) { return std::abs(x); }

// As the trial has it that takes 4 from every input.
bool are_all_negative(const KernelArgument& x) {
  return std::all_of(floats(x), floats(x) + kLength, [](float v) { return v < 0; });
}

TEST(Cheating, WhoDoesNotEndOnLargeOrSmallInputsIsNotAccepted) {
  for (const char* ending : {"too_large_to_evaluate", "not_evaluable"}) {
    const auto report =
        judge(task_of("aten::abs"), candidate_of_kernel(),
              [&](std::span<const KernelArgument> arguments) {
                if (are_all_negative(arguments[0]))
                  return LaunchOutcome{.error = VerdictError{.error_class = ending}};
                return elementwise(kLength, absolute)(arguments);
              });
    EXPECT_EQ(error_class(report), ending);
    EXPECT_EQ(report.fault, Fault::none);
    EXPECT_NE(error_message(report).find("with 110 taken from the inputs"), std::string::npos);
  }
}

// What it computes there is wrong; whoever would have said so finds no time left.
TEST(Cheating, TimeThatACandidateUsesUpExcusesItFromNothing) {
  const auto slow = [](std::span<const KernelArgument> arguments) {
    if (!are_all_negative(arguments[0])) return elementwise(kLength, absolute)(arguments);
    const Stopwatch watch;
    while (watch.seconds() < 1.1) ::poll(nullptr, 0, 10);
    return copy_kernel()(arguments);
  };
  const auto report = referee_of(task_of("aten::abs"), slow)
                          ->judge({.task_key = "task",
                                   .candidate_plan = plan_json(candidate_of_kernel()),
                                   .secret = "secret",
                                   .budget = {.seconds = 1}});
  EXPECT_EQ(error_class(report), "too_large_to_evaluate");
  EXPECT_TRUE(report.deadline_hit);
}

TEST(Cheating, OutputsMustLieWhereTheReferencesDo) {
  PlanBuilder candidate(PlanRole::candidate);
  const int x = candidate.tensor({kLength}), y = candidate.tensor({kLength}),
            moved = candidate.tensor({kLength});
  const int kernel = candidate.kernel("k", {"*fp32", "*fp32"});
  candidate.input(t(x))
      .aten(Phase::forward, "aten::empty_like", {t(x)}, {y})
      .launch(kernel, {t(x), t(y)})
      .aten(Phase::forward, "aten::_to_copy", {t(y)}, {moved}, {{"device", Value{DeviceKind::cpu}}})
      .returns(t(moved));
  EXPECT_EQ(error_class(judge(task_of("aten::relu"), candidate, relu_kernel())), "wrong_device");
}

TEST(Cheating, DevicesFollowFromTheSteps) {
  PlanBuilder plan(PlanRole::candidate);
  const int x = plan.tensor({kLength}), made = plan.tensor({kLength}),
            like = plan.tensor({kLength});
  plan.input(t(x))
      .aten(Phase::forward, "aten::zeros", {ints({kLength})}, {made})
      .aten(Phase::forward, "aten::empty_like", {t(x)}, {like})
      .returns(t(like));
  EXPECT_EQ(tensors_on_cpu(plan.plan()), (std::vector<bool>{false, true, false}));
}

}  // namespace
}  // namespace tritonsmith::gym
