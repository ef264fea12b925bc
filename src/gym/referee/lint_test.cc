// Tests the referee's findings about a task alone.
#include <gtest/gtest.h>

#include "gym/language/testing/vector_plans.h"
#include "gym/referee/testing/reports.h"

namespace tritonsmith::gym::referee {
namespace {

constexpr std::int64_t kSmall = 64, kLarge = 3 << 19;

struct LintTest : ::testing::Test {
  RefereeReport look(const plan::PlanBuilder& task) {
    job.task_key = "task";
    job.secret = "secret";
    return referee_of(task, {})->judge(job);
  }
  std::vector<std::string> rules(const plan::PlanBuilder& task) {
    std::vector<std::string> all;
    for (const Finding& finding : look(task).findings) all.push_back(finding.rule);
    return all;
  }
  using Rules = std::vector<std::string>;
  RefereeJob job;
};

// The task is forward(x) = x * times + added over n floats.
plan::PlanBuilder linear(std::int64_t n, double times, double added) {
  plan::PlanBuilder task(plan::PlanRole::task);
  const int x = task.tensor({n}), scaled = task.tensor({n}), y = task.tensor({n});
  task.aten(plan::Phase::inputs, "aten::randn", {plan::ints({n})}, {x}, {language::kOnGpu})
      .input(plan::t(x))
      .aten(plan::Phase::forward, "aten::mul.Scalar", {plan::t(x), plan::f(times)}, {scaled})
      .aten(plan::Phase::forward, "aten::add.Scalar", {plan::t(scaled), plan::f(added)}, {y})
      .returns(plan::t(y));
  return task;
}

TEST_F(LintTest, MarksTasksThatZerosOrAConstantSolveHoweverLargeTheyAre) {
  for (const std::int64_t n : {kSmall, kLarge}) {
    EXPECT_EQ(rules(linear(n, 2, 1)), Rules{});
    EXPECT_EQ(rules(linear(n, 0, 0)), (Rules{"task_zeros_pass", "task_ignores_input"}));
    EXPECT_EQ(rules(linear(n, 0, 1)), (Rules{"task_constant_passes", "task_ignores_input"}));
  }
}

TEST_F(LintTest, MarksTasksThatTheOutputForOtherInputsSolves) {
  for (const std::int64_t n : {kSmall, kLarge}) {
    plan::PlanBuilder task(plan::PlanRole::task);
    const int x = task.tensor({n}), none = task.tensor({n}), one = task.tensor({n}),
              y = task.tensor({n});
    task.aten(plan::Phase::inputs, "aten::randn", {plan::ints({n})}, {x}, {language::kOnGpu})
        .input(plan::t(x))
        .aten(plan::Phase::forward, "aten::mul.Scalar", {plan::t(x), plan::f(0)}, {none})
        .aten(plan::Phase::forward, "aten::add.Scalar", {plan::t(none), plan::f(1)}, {one})
        .aten(plan::Phase::forward, "aten::cumsum", {plan::t(one), plan::i(0)}, {y})
        .returns(plan::t(y));
    EXPECT_EQ(rules(task), (Rules{"task_replay_passes", "task_ignores_input"}));
  }
}

TEST_F(LintTest, MarksAnInputThatNothingDependsOn) {
  plan::PlanBuilder task(plan::PlanRole::task);
  const int x = task.tensor({language::kLength}), unused = task.tensor({language::kLength}),
            y = task.tensor({language::kLength});
  task.aten(plan::Phase::inputs, "aten::randn", {plan::ints({language::kLength})}, {x},
            {language::kOnGpu})
      .aten(plan::Phase::inputs, "aten::randn", {plan::ints({language::kLength})}, {unused},
            {language::kOnGpu})
      .input(plan::t(x))
      .input(plan::t(unused))
      .aten(plan::Phase::forward, "aten::relu", {plan::t(x)}, {y})
      .returns(plan::t(y));
  const auto report = look(task);
  ASSERT_EQ(report.findings.size(), 1U);
  EXPECT_EQ(report.findings[0].message, "the output does not depend on argument 2");
}

TEST_F(LintTest, MarksTasksInWhichPyTorchItselfLosesItsDigits) {
  for (const double scale : {1.0, 1e7}) {
    plan::PlanBuilder task(plan::PlanRole::task);
    const int x = task.tensor({language::kLength}), large = task.tensor({language::kLength}),
              y = task.tensor({language::kLength});
    task.aten(plan::Phase::inputs, "aten::randn", {plan::ints({language::kLength})}, {x},
              {language::kOnGpu})
        .input(plan::t(x))
        .aten(plan::Phase::forward, "aten::mul.Scalar", {plan::t(x), plan::f(scale)}, {large})
        .aten(plan::Phase::forward, "aten::sin", {plan::t(large)}, {y})
        .returns(plan::t(y));
    EXPECT_EQ(rules(task), scale > 1 ? Rules{"task_loses_digits"} : Rules{});
  }
}

TEST_F(LintTest, ComparesAsTheJudgeDoes) {
  for (const std::int64_t n : {kSmall, kLarge}) {
    job.comparison = Comparison::budget;
    EXPECT_EQ(rules(linear(n, 1e-6, 0)), Rules{});
    job.comparison = Comparison::allclose;
    EXPECT_EQ(rules(linear(n, 1e-6, 0)), Rules{"task_zeros_pass"});
  }
}

TEST_F(LintTest, SaysWhatMemoryItLacked) {
  const plan::PlanBuilder task = linear(kLarge, 0, 0);  // three tensors of 6 MiB each
  job.budget.memory_bytes = 16 << 20;
  const auto lacking = look(task);
  ASSERT_EQ(lacking.findings.size(), 1U);
  EXPECT_EQ(lacking.findings[0].rule, "task_not_linted");
  EXPECT_NE(lacking.findings[0].message.find("of memory"), std::string::npos);
  EXPECT_EQ(lacking.fault, Fault::none);
  for (const int mebibytes : {64, 256}) {  // without float64, and with it
    job.budget.memory_bytes = std::int64_t{mebibytes} << 20;
    EXPECT_EQ(rules(task), (Rules{"task_zeros_pass", "task_ignores_input"})) << mebibytes;
  }
}

TEST_F(LintTest, SaysThatItsTimeWasUp) {
  job.budget.seconds = 0;
  const auto late = look(linear(kLarge, 0, 0));
  ASSERT_EQ(late.findings.size(), 1U);
  EXPECT_EQ(late.findings[0].rule, "task_not_linted");
  EXPECT_EQ(late.findings[0].message,
            "the task was not checked: its reference did not finish within the time limit");
}

TEST_F(LintTest, SaysWhatTheTaskItselfFailsBy) {
  // the inputs have negative numbers
  const plan::PlanBuilder task = language::task_of("aten::log");
  const auto report = look(task);
  ASSERT_EQ(report.findings.size(), 1U);
  EXPECT_EQ(report.findings[0].message, "the task was not checked: its outputs are not finite");
}

}  // namespace
}  // namespace tritonsmith::gym::referee
