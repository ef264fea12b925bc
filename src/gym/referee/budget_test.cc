// Tests how a job's budget of memory and time limits its report.
#include <gtest/gtest.h>
#include <poll.h>

#include <functional>
#include <new>

#include "base/clock.h"
#include "gym/language/testing/vector_plans.h"
#include "gym/referee/testing/reports.h"

namespace tritonsmith::gym::referee {
namespace {

struct BudgetTest : ::testing::Test {
  RefereeReport judge(const plan::PlanBuilder& task, const plan::PlanBuilder& candidate,
                      language::FakeExecutor::Body body) {
    job.task_key = "task";
    job.candidate_plan = plan_json(candidate);
    job.secret = "secret";
    return referee_of(task, std::move(body))->judge(job);
  }
  RefereeJob job;
};

TEST_F(BudgetTest, BlamesNobodyForWhatIsTooLargeOrUnknown) {
  job.budget.memory_bytes = 1024;
  const auto large = judge(language::task_of("aten::relu"), language::candidate_of_kernel(),
                           language::relu_kernel());
  EXPECT_EQ(error_class(large), "too_large_to_evaluate");
  EXPECT_EQ(large.fault, Fault::none);
  job.budget.memory_bytes = 1 << 30;
  const auto unknown = judge(language::task_of("aten::no_such_operator"),
                             language::candidate_of_kernel(), language::relu_kernel());
  EXPECT_EQ(error_class(unknown), "not_evaluable");
  EXPECT_EQ(unknown.fault, Fault::none);
}

// A kernel that computes until the time is over would do so on a quiet machine too. A kernel that
// waited may have waited for other processes.
TEST_F(BudgetTest, ADeadlineHitIsWorthARetryOnlyWhereOthersMayBeTheReason) {
  job.budget.seconds = 0.1;
  const auto report_of = [&](const std::function<void(const Stopwatch&)>& pass_time) {
    return judge(language::task_of("aten::relu"), language::candidate_of_kernel(),
                 [&](const auto&) {
                   const Stopwatch watch;
                   while (watch.seconds() < 0.2) pass_time(watch);
                   return language::LaunchOutcome{
                       .error = VerdictError{.error_class = ErrorClass::too_large_to_evaluate}};
                 });
  };
  const auto waiting = report_of([](const Stopwatch&) { ::poll(nullptr, 0, 10); });
  EXPECT_EQ(error_class(waiting), "too_large_to_evaluate");
  EXPECT_TRUE(waiting.deadline_hit);
  bool is_retried = true;  // beside other work the kernel may get less than a core
  for (int attempt = 0; attempt < 50 && is_retried; ++attempt)
    is_retried = report_of([](const Stopwatch&) {}).deadline_hit;
  EXPECT_FALSE(is_retried);
}

TEST_F(BudgetTest, DoesWithoutTheOracleWhereMemoryIsShort) {
  plan::PlanBuilder task = language::task_of("aten::relu");
  constexpr std::int64_t declared = 1 << 16;
  task.tensor({declared / 4});  // no step makes it, so there is room for the rest
  job.budget.memory_bytes = 3 * declared;
  const auto report = judge(task, language::candidate_of_kernel(), language::relu_kernel());
  EXPECT_TRUE(report.correct) << error_message(report);
  EXPECT_TRUE(has_rule(report, "judged_without_oracle"));
}

// Zeros would pass there by the plain tolerance, and no trial of extreme values would count.
TEST_F(BudgetTest, BuffersOfTheCandidateCostNoOracleItsMemory) {
  const auto zeros = language::elementwise(language::kLength, [](float) { return 0.0F; });
  job.budget.memory_bytes = 1 << 20;
  plan::PlanBuilder candidate = language::candidate_of_kernel();
  candidate.tensor({(1 << 18) - 512});
  const auto report =
      judge(language::task_of("aten::mul.Tensor", {plan::f(1e-6)}), candidate, zeros);
  EXPECT_EQ(error_class(report), "too_large_to_evaluate");
  EXPECT_EQ(report.fault, Fault::none);
}

TEST_F(BudgetTest, LackOfMemoryIsNobodysFaultWhereverItShows) {
  const auto report =
      judge(language::task_of("aten::relu"), language::candidate_of_kernel(),
            [](std::span<const language::KernelArgument>) -> language::LaunchOutcome {
              throw std::bad_alloc();
            });
  EXPECT_EQ(error_class(report), "too_large_to_evaluate");
  EXPECT_EQ(report.fault, Fault::none);
}

TEST_F(BudgetTest, WhatTheJudgeCannotComputeIsNobodysFaultAndNoFaultOfTheMachine) {
  const auto report = judge(
      language::task_of("aten::relu"), language::candidate_of_kernel(),
      [](std::span<const language::KernelArgument>) -> language::LaunchOutcome {
        throw std::runtime_error("\"mul_cuda\" not implemented for 'Float8_e4m3fn'\nmore of it");
      });
  EXPECT_EQ(error_class(report), "not_evaluable");
  EXPECT_EQ(report.fault, Fault::none);
  EXPECT_EQ(error_message(report),
            "the judge cannot draw or compare the tensors of this task: \"mul_cuda\" not "
            "implemented for 'Float8_e4m3fn'");
}

}  // namespace
}  // namespace tritonsmith::gym::referee
