#include "gym/judge/task_linter.h"

#include <gtest/gtest.h>

#include "gym/judge/testing/fake_pool.h"
#include "gym/plan/testing/plan_builder.h"

namespace tritonsmith::gym::judge {
namespace {

struct TaskLinterTest : ::testing::Test {
  Result<std::vector<Finding>> lint(const RefereeOutcome& outcome) {
    auto pool = std::make_unique<FakePool>();
    pool->on_capture = [](const capture::CaptureRequest&) {
      return captured(
          plan::to_json(plan::Plan{.role = plan::PlanRole::task, .target = "sm_90"}).dump());
    };
    auto referee = std::make_unique<FakeReferee>([this, outcome](const referee::RefereeJob& job) {
      asked = job;
      return outcome;
    });
    TaskLinter linter(std::move(pool), std::move(referee), "secret", generous_budget());
    return linter.lint({.id = "t", .source = "task"});
  }
  referee::RefereeJob asked;
};

TEST_F(TaskLinterTest, GivesALookMoreThanACandidateGets) {
  const auto found = lint(referee::RefereeReport{.findings = {{.rule = "task_zeros_pass"}}});
  ASSERT_TRUE(found);
  EXPECT_EQ(found->at(0).rule, "task_zeros_pass");
  EXPECT_TRUE(asked.candidate_plan.empty());
  EXPECT_GT(asked.budget.seconds, referee::RefereeBudget().seconds);
  EXPECT_GE(asked.budget.memory_bytes, referee::RefereeBudget().memory_bytes);
}

TEST_F(TaskLinterTest, TellsATaskThatTookTooLongFromABrokenGym) {
  const auto late = lint(RefereeFailure{RefereeFailure::Kind::timeout, "no verdict in time"});
  ASSERT_TRUE(late);
  EXPECT_EQ(late->at(0).rule, "task_not_linted");
  EXPECT_EQ(late->at(0).message, "the task was not checked: no verdict in time");
  const auto broken = lint(RefereeFailure{RefereeFailure::Kind::infrastructure, "no process"});
  ASSERT_FALSE(broken);
  EXPECT_EQ(broken.error().message, "the task was not checked: no process");
}

// Captures forward(x) = relu(x) over the number of elements that the source names.
capture::CaptureOutcome capture_relu(const capture::CaptureRequest& request) {
  const std::int64_t n = std::stoll(request.source.substr(request.source.find("= ") + 2));
  plan::PlanBuilder task(plan::PlanRole::task);
  const int x = task.tensor({n}), y = task.tensor({n});
  task.aten(plan::Phase::inputs, "aten::randn", {plan::ints({n})}, {x})
      .input(plan::t(x))
      .aten(plan::Phase::forward, "aten::relu", {plan::t(x)}, {y})
      .returns(plan::t(y));
  return captured(plan::to_json(task.plan()).dump());
}

TEST(TaskLinterMeasure, TakesSmallerSizesOfALargeTask) {
  auto pool = std::make_unique<FakePool>();
  pool->on_capture = capture_relu;
  referee::RefereeJob asked;
  auto referee = std::make_unique<FakeReferee>([&](const referee::RefereeJob& job) {
    asked = job;
    referee::RefereeReport report;
    report.adequacy = Adequacy{.variants = 1};
    return report;
  });
  TaskLinter linter(std::move(pool), std::move(referee), "secret", generous_budget());
  const auto large = linter.measure({.id = "t", .source = "n = 1048576\n"}, {.secrets = 4});
  ASSERT_TRUE(large);
  EXPECT_EQ(large->reduced_by, 8);
  EXPECT_EQ(asked.task_source, "n = 131072\n");
  EXPECT_EQ(asked.adequacy_secrets, 4);
  const auto small = linter.measure({.id = "t", .source = "n = 1024\n"}, {});
  ASSERT_TRUE(small);
  EXPECT_EQ(small->reduced_by, 1);
}

}  // namespace
}  // namespace tritonsmith::gym::judge
