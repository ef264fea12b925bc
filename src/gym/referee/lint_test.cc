// What a referee says of a task alone.
#include <gtest/gtest.h>

#include "gym/referee/testing/reports.h"
#include "gym/referee/testing/vector_plans.h"

namespace tritonsmith::gym {
namespace {

constexpr std::int64_t kSmall = 64, kLarge = 3 << 19;

struct LintTest : ::testing::Test {
  RefereeReport look(const PlanBuilder& task) {
    job.task_key = "task";
    job.secret = "secret";
    return referee_of(task, {})->judge(job);
  }
  std::vector<std::string> rules(const PlanBuilder& task) {
    std::vector<std::string> all;
    for (const Finding& finding : look(task).findings) all.push_back(finding.rule);
    return all;
  }
  using Rules = std::vector<std::string>;
  RefereeJob job;
};

// forward(x) over n floats: x + added, times `times`.
PlanBuilder linear(std::int64_t n, double times, double added) {
  PlanBuilder task(PlanRole::task);
  const int x = task.tensor({n}), scaled = task.tensor({n}), y = task.tensor({n});
  task.aten(Phase::inputs, "aten::randn", {ints({n})}, {x}, {kOnGpu})
      .input(t(x))
      .aten(Phase::forward, "aten::mul.Scalar", {t(x), f(times)}, {scaled})
      .aten(Phase::forward, "aten::add.Scalar", {t(scaled), f(added)}, {y})
      .returns(t(y));
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
    PlanBuilder task(PlanRole::task);
    const int x = task.tensor({n}), none = task.tensor({n}), one = task.tensor({n}),
              y = task.tensor({n});
    task.aten(Phase::inputs, "aten::randn", {ints({n})}, {x}, {kOnGpu})
        .input(t(x))
        .aten(Phase::forward, "aten::mul.Scalar", {t(x), f(0)}, {none})
        .aten(Phase::forward, "aten::add.Scalar", {t(none), f(1)}, {one})
        .aten(Phase::forward, "aten::cumsum", {t(one), i(0)}, {y})
        .returns(t(y));
    EXPECT_EQ(rules(task), (Rules{"task_replay_passes", "task_ignores_input"}));
  }
}

TEST_F(LintTest, MarksAnInputThatNothingDependsOn) {
  PlanBuilder task(PlanRole::task);
  const int x = task.tensor({kLength}), unused = task.tensor({kLength}), y = task.tensor({kLength});
  task.aten(Phase::inputs, "aten::randn", {ints({kLength})}, {x}, {kOnGpu})
      .aten(Phase::inputs, "aten::randn", {ints({kLength})}, {unused}, {kOnGpu})
      .input(t(x))
      .input(t(unused))
      .aten(Phase::forward, "aten::relu", {t(x)}, {y})
      .returns(t(y));
  const auto report = look(task);
  ASSERT_EQ(report.findings.size(), 1U);
  EXPECT_EQ(report.findings[0].message, "the output does not depend on input 1");
}

TEST_F(LintTest, MarksTasksInWhichPyTorchItselfLosesItsDigits) {
  for (const double scale : {1.0, 1e7}) {
    PlanBuilder task(PlanRole::task);
    const int x = task.tensor({kLength}), large = task.tensor({kLength}),
              y = task.tensor({kLength});
    task.aten(Phase::inputs, "aten::randn", {ints({kLength})}, {x}, {kOnGpu})
        .input(t(x))
        .aten(Phase::forward, "aten::mul.Scalar", {t(x), f(scale)}, {large})
        .aten(Phase::forward, "aten::sin", {t(large)}, {y})
        .returns(t(y));
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
  const PlanBuilder task = linear(kLarge, 0, 0);  // three tensors of 6 MiB, of which a look keeps
  job.budget.memory_bytes = 16 << 20;
  const auto lacking = look(task);
  ASSERT_EQ(lacking.findings.size(), 1U);
  EXPECT_EQ(lacking.findings[0].rule, "task_not_linted");
  EXPECT_NE(lacking.findings[0].message.find("of memory"), std::string::npos);
  EXPECT_EQ(lacking.fault, Fault::none);
  for (const int mebibytes : {64, 256}) {  // without float64, and with
    job.budget.memory_bytes = std::int64_t{mebibytes} << 20;
    EXPECT_EQ(rules(task), (Rules{"task_zeros_pass", "task_ignores_input"})) << mebibytes;
  }
}

TEST_F(LintTest, SaysThatItsTimeWasUp) {
  job.budget.seconds = 0;
  EXPECT_EQ(rules(linear(kLarge, 0, 0)), Rules{"task_not_linted"});
}

TEST_F(LintTest, SaysWhatTheTaskItselfFailsBy) {
  const PlanBuilder task = task_of("aten::log");  // of negative numbers
  const auto report = look(task);
  ASSERT_EQ(report.findings.size(), 1U);
  EXPECT_EQ(report.findings[0].message, "its outputs are not finite");
}

}  // namespace
}  // namespace tritonsmith::gym
