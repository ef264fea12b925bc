// A judge repeats some failures and accepts others.
#include <gtest/gtest.h>

#include <atomic>

#include "gym/judge/testing/local_judge_fixture.h"

namespace tritonsmith::gym::judge {
namespace {

TEST_F(LocalJudgeTest, RetriesADeadlineHitOnceAlone) {
  std::atomic<int> attempts = 0;
  pool->on_capture = [&](const capture::CaptureRequest& request) {
    if (request.role == capture::CaptureRole::task)
      return captured(plan_json(plan::PlanRole::task));
    return ++attempts == 1 ? capture_failure(Stage::inspected, ErrorClass::timeout)
                           : captured(plan_json(plan::PlanRole::candidate));
  };
  EXPECT_TRUE(verdict_of_one(job(1)).accepted);
  attempts = -10;  // now every attempt but the first of the next ten times out
  pool->on_capture = [&](const capture::CaptureRequest&) {
    return capture_failure(Stage::inspected, ErrorClass::timeout);
  };
  EXPECT_EQ(verdict_of_one(job(2, "other")).error->error_class, ErrorClass::timeout);
}

TEST_F(LocalJudgeTest, DoesNotRetryADeadlineHitThatNobodyElseCanHaveCaused) {
  std::atomic<int> attempts = 0;
  pool->on_capture = [&](const capture::CaptureRequest& request) -> capture::CaptureOutcome {
    if (request.role == capture::CaptureRole::task)
      return captured(plan_json(plan::PlanRole::task));
    ++attempts;
    return {.result = sandbox::CandidateFailure{.stage = Stage::inspected,
                                                .error = {.error_class = ErrorClass::timeout},
                                                .undisturbed = true}};
  };
  EXPECT_EQ(verdict_of_one(job(1)).error->error_class, ErrorClass::timeout);
  EXPECT_EQ(attempts, 1);
}

TEST_F(LocalJudgeTest, ForgivesAGuestThatWasKilledTwice) {
  std::atomic<int> attempts = 0;
  std::atomic<int> kills = 2;
  pool->on_capture = [&](const capture::CaptureRequest& request) {
    if (request.role == capture::CaptureRole::task)
      return captured(plan_json(plan::PlanRole::task));
    return ++attempts <= kills ? capture_failure(Stage::inspected, ErrorClass::killed)
                               : captured(plan_json(plan::PlanRole::candidate));
  };
  EXPECT_TRUE(verdict_of_one(job(1)).accepted);
  attempts = 0;
  kills = 3;
  EXPECT_EQ(verdict_of_one(job(2, "kills itself")).error->error_class, ErrorClass::killed);
}

TEST_F(LocalJudgeTest, ForgivesAKernelWhoseCompilerWasKilledTwice) {
  std::atomic<int> compiled = 0;
  std::atomic<int> kills = 2;
  pool->on_compile = [&](const compile::CompileRequest&) -> compile::CompileOutcome {
    if (++compiled > kills)
      return {.result = compile::CompiledKernel{.cubin = "c", .registers = 24}};
    return {.result =
                sandbox::CandidateFailure{Stage::captured, {.error_class = ErrorClass::killed}}};
  };
  EXPECT_TRUE(verdict_of_one(job(1)).accepted);
  compiled = 0;
  kills = 3;
  const Verdict verdict = verdict_of_one(job(2, "needs all memory"));
  EXPECT_EQ(verdict.error->error_class, ErrorClass::killed);
  EXPECT_EQ(verdict.fault, Fault::candidate);
}

TEST_F(LocalJudgeTest, DoesNotBlameATaskWhoseGuestWasKilled) {
  std::atomic<int> attempts = 0;
  pool->on_capture = [&](const capture::CaptureRequest& request) {
    if (request.role == capture::CaptureRole::candidate)
      return captured(plan_json(plan::PlanRole::candidate));
    return ++attempts <= 2 ? capture_failure(Stage::inspected, ErrorClass::killed)
                           : captured(plan_json(plan::PlanRole::task));
  };
  EXPECT_TRUE(verdict_of_one(job(1)).accepted);
  EXPECT_TRUE(verdict_of_one(job(2, "another kernel")).accepted);
  EXPECT_EQ(attempts, 3);
}

TEST_F(LocalJudgeTest, RetriesAnInfrastructureFaultAndThenSaysSo) {
  std::atomic<int> asked = 0;
  referee = [&](const referee::RefereeJob&) -> RefereeOutcome {
    ++asked;
    return RefereeFailure{RefereeFailure::Kind::infrastructure, "no memory"};
  };
  const Verdict verdict = verdict_of_one(job(1));
  EXPECT_EQ(verdict.fault, Fault::infrastructure);
  EXPECT_EQ(verdict.error->message, "no memory");
  EXPECT_EQ(asked, 2);
}

}  // namespace
}  // namespace tritonsmith::gym::judge
