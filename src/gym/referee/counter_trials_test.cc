// Tests the trials that begin at counts of many calls. The count may matter as little or as much as the
// task wants: who loads it stays right, and who knows the first two calls only is wrong.
#include "gym/referee/counter_trials.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "gym/language/testing/vector_plans.h"
#include "gym/referee/testing/reports.h"

namespace tritonsmith::gym::referee {
namespace {

using plan::f;
using plan::i;
using plan::ints;
using plan::t;

// The task is y = x * clamp(count, -inf, most), where the count includes this call.
plan::PlanBuilder counting_task(double most) {
  plan::PlanBuilder task(plan::PlanRole::task);
  const int x = task.tensor({language::kLength}), count = task.tensor({1}),
            factor = task.tensor({1}), y = task.tensor({language::kLength});
  task.aten(plan::Phase::init, "aten::zeros", {ints({1})}, {count})
      .parameter("count", count, plan::ParameterKind::buffer)
      .aten(plan::Phase::inputs, "aten::randn", {ints({language::kLength})}, {x})
      .input(t(x))
      .aten(plan::Phase::forward, "aten::add_.Tensor", {t(count), i(1)}, {count})
      .aten(plan::Phase::forward, "aten::clamp", {t(count), plan::Value{}, f(most)}, {factor})
      .aten(plan::Phase::forward, "aten::mul.Tensor", {t(x), t(factor)}, {y})
      .returns(t(y));
  return task;
}

plan::PlanBuilder counting_candidate(const std::string& name) {
  plan::PlanBuilder candidate(plan::PlanRole::candidate);
  const int x = candidate.tensor({language::kLength}), count = candidate.tensor({1}),
            y = candidate.tensor({language::kLength});
  const int kernel = candidate.kernel("k", {"*fp32", "*fp32", "*fp32"});
  candidate.aten(plan::Phase::init, "aten::zeros", {ints({1})}, {count})
      .parameter(name, count, plan::ParameterKind::buffer)
      .input(t(x))
      .aten(plan::Phase::forward, "aten::add_.Tensor", {t(count), i(1)}, {count})
      .aten(plan::Phase::forward, "aten::empty_like", {t(x)}, {y})
      .launch(kernel, {t(x), t(y), t(count)})
      .returns(t(y));
  return candidate;
}

std::string ending(double most_of_task, float most_of_kernel, const std::string& name = "count") {
  const auto kernel = [most_of_kernel](std::span<const language::KernelArgument> a) {
    const float factor = std::min(language::floats(a[2])[0], most_of_kernel);
    for (int k = 0; k < language::kLength; ++k)
      language::floats(a[1])[k] = language::floats(a[0])[k] * factor;
    return language::LaunchOutcome{.loaded = {0, 2}, .stored = {1}};
  };
  return error_class(referee_of(counting_task(most_of_task), kernel)
                         ->judge({.task_key = "task",
                                  .candidate_plan = plan_json(counting_candidate(name)),
                                  .secret = "secret",
                                  .policy = Policy::open}));
}

TEST(CounterTrials, WhoLoadsTheCountIsRight) {
  for (const int most : {3, 10, 100}) EXPECT_EQ(ending(most, static_cast<float>(most)), "none");
}

TEST(CounterTrials, WhoKnowsTheFirstCallsOnlyIsWrong) {
  EXPECT_EQ(ending(100, 2), "wrong_value");
  EXPECT_EQ(ending(40, 41), "wrong_value");
  EXPECT_EQ(ending(40, 39), "wrong_value");
}

TEST(CounterTrials, CallsAreFewAndSomeAreSmallAndOneIsLarge) {
  const plan::PlanBuilder task = counting_task(40);
  const auto counters = plan::analysis::call_counters(task.plan());
  for (const std::string secret : {"a", "b", "c", "d"}) {
    const std::vector<std::int64_t> calls = calls_to_try(task.plan(), counters, secret);
    EXPECT_LE(calls.size(), 16u);
    EXPECT_GE(std::ranges::count_if(calls, [](auto each) { return each >= 2 && each <= 12; }), 2);
    EXPECT_GE(calls.back(), 500);
    for (const int near : {38, 39, 40, 41}) EXPECT_EQ(std::ranges::count(calls, near), 1);
  }
}

TEST(CounterTrials, OnlyACounterOfTheSameNameAndFormIsHeld) {
  const plan::PlanBuilder task = counting_task(40);
  const auto counters = plan::analysis::call_counters(task.plan());
  plan::PlanBuilder candidate = counting_candidate("count");
  EXPECT_TRUE(holds_counters(task.plan(), candidate.plan(), counters));
  EXPECT_FALSE(holds_counters(task.plan(), counting_candidate("calls").plan(), counters));
  candidate.plan().parameters[0].is_read = true;
  EXPECT_FALSE(holds_counters(task.plan(), candidate.plan(), counters));
}

}  // namespace
}  // namespace tritonsmith::gym::referee
