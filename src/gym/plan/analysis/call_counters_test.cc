#include "gym/plan/analysis/call_counters.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "gym/plan/analysis/asserts.h"
#include "gym/plan/testing/plan_builder.h"

namespace tritonsmith::gym::plan::analysis {
namespace {

// A task that keeps one whole number, to which forward adds `step`.
struct Counting {
  PlanBuilder task{PlanRole::task};
  int count;

  explicit Counting(std::int64_t step = 1, DType dtype = DType::int64)
      : count(task.tensor({}, dtype)) {
    task.aten(Phase::init, "aten::zeros", {ints({})}, {count})
        .parameter("count", count, ParameterKind::buffer)
        .aten(Phase::forward, "aten::add_.Tensor", {t(count), i(step)}, {count});
  }
  Counting& asks(const std::string& op, std::int64_t number) {
    task.aten(Phase::forward, op, {t(count), i(number)}, {task.tensor({})});
    return *this;
  }
  std::vector<CallCounter> counters() const { return call_counters(task.plan()); }
  bool tells(std::int64_t calls) const {
    return std::ranges::count(telling_calls(task.plan(), counters()), calls) == 1;
  }
};

TEST(CallCounters, ABufferOfOneNumberThatGrowsCounts) {
  for (const std::int64_t step : {1, 3, -2}) {
    const Counting task(step);
    EXPECT_EQ(task.counters(),
              (std::vector<CallCounter>{{.name = "count", .tensor = task.count, .step = step}}));
  }
  EXPECT_EQ(Counting(1, DType::float32).counters().size(), 1u);
  EXPECT_TRUE(Counting(0).counters().empty());
}

TEST(CallCounters, WhatWrapsCountsWithItsModulus) {
  PlanBuilder task(PlanRole::task);
  const int slot = task.tensor({1}, DType::int64), next = task.tensor({1}, DType::int64),
            wrapped = task.tensor({1}, DType::int64);
  task.parameter("slot", slot, ParameterKind::buffer)
      .aten(Phase::forward, "aten::add.Tensor", {t(slot), i(1)}, {next})
      .aten(Phase::forward, "aten::remainder.Scalar", {t(next), i(5)}, {wrapped})
      .aten(Phase::forward, "aten::copy_", {t(slot), t(wrapped)}, {slot});
  EXPECT_EQ(call_counters(task.plan()),
            (std::vector<CallCounter>{{.name = "slot", .tensor = slot, .step = 1, .modulus = 5}}));
}

TEST(CallCounters, NothingCountsWhereThePlanHoldsForTheFirstNumberOnly) {
  Counting read, later, norm;
  read.task.plan().parameters[0].is_read = true;
  later.task.plan().first_call_only = true;
  norm.task.plan().parameters[0].name = "norm.num_batches_tracked";
  EXPECT_TRUE(read.counters().empty());
  EXPECT_TRUE(later.counters().empty());
  EXPECT_TRUE(norm.counters().empty());
}

// How many slots are filled follows from the count. A candidate may compute the one from the other.
TEST(CallCounters, NothingCountsBesideAnotherWholeNumberThatChanges) {
  Counting both;
  const int filled = both.task.tensor({}, DType::boolean);
  both.task.parameter("filled", filled, ParameterKind::buffer);
  EXPECT_EQ(both.counters().size(), 1u);
  both.task.aten(Phase::forward, "aten::fill_.Scalar", {t(filled), i(1)}, {filled});
  EXPECT_TRUE(both.counters().empty());
}

// After so many calls the number is just below, at or just above, where it is asked.
TEST(CallCounters, CallsBesideANumberTell) {
  for (const std::int64_t number : {5, 10, 1000}) {
    Counting task;
    task.asks("aten::le.Scalar", number);
    for (const std::int64_t calls : {number - 2, number - 1, number, number + 1})
      EXPECT_TRUE(task.tells(calls)) << calls;
    EXPECT_FALSE(task.tells(number + 2));
  }
  Counting residues;
  residues.asks("aten::remainder.Scalar", 4);
  for (const std::int64_t calls : {2, 3, 4, 5}) EXPECT_TRUE(residues.tells(calls)) << calls;
}

TEST(CallCounters, NoCallTellsThatTheTypeCannotHold) {
  Counting task(1, DType::int8);
  task.asks("aten::le.Scalar", 1000);
  EXPECT_TRUE(telling_calls(task.task.plan(), task.counters()).empty());
}

TEST(CallCounters, AnAverageOverAllCallsTakesTheShareOfTheLastOne) {
  PlanBuilder task(PlanRole::task);
  const int x = task.tensor({8, 4}), mean = task.tensor({4}), variance = task.tensor({4}),
            count = task.tensor({}, DType::int64), y = task.tensor({8, 4});
  task.parameter("norm.running_mean", mean, ParameterKind::buffer)
      .parameter("norm.num_batches_tracked", count, ParameterKind::buffer)
      .aten(Phase::forward, "aten::add_.Tensor", {t(count), i(1)}, {count})
      .aten(
          Phase::forward, "aten::batch_norm",
          {t(x), Value{}, Value{}, t(mean), t(variance), Value{true}, f(1), f(1e-5), Value{false}},
          {y});
  EXPECT_TRUE(counters_of_averages(task.plan()).empty());  // Python did not read the count
  task.plan().first_call_only = task.plan().parameters[1].is_read = true;
  const std::vector<CallCounter> counters = counters_of_averages(task.plan());
  ASSERT_EQ(counters.size(), 1u);
  const Plan later = after_calls(task.plan(), counters, 3);
  EXPECT_EQ(std::get<AtenCall>(later.steps.back().action).args[6], f(0.25));
}

TEST(CallCounters, ACountThatIsAnIndexMayAssert) {
  Counting task;
  const int cache = task.task.tensor({16, 4}), x = task.task.tensor({1, 4});
  task.task.input(t(x)).aten(Phase::forward, "aten::index_copy_",
                             {t(cache), i(0), t(task.count), t(x)}, {cache});
  EXPECT_TRUE(may_assert_on_gpu(task.task.plan()));
  EXPECT_TRUE(task.tells(15));
}

}  // namespace
}  // namespace tritonsmith::gym::plan::analysis
