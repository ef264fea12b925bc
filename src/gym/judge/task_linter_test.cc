#include "gym/judge/task_linter.h"

#include <gtest/gtest.h>

#include "gym/judge/testing/fake_pool.h"
#include "gym/plan/plan.h"

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
  EXPECT_EQ(late->at(0).message, "no verdict in time");
  const auto broken = lint(RefereeFailure{RefereeFailure::Kind::infrastructure, "no process"});
  ASSERT_FALSE(broken);
  EXPECT_EQ(broken.error().message, "no process");
}

}  // namespace
}  // namespace tritonsmith::gym::judge
