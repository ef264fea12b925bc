#include "gym/api/testing/fake_judge.h"

#include <gtest/gtest.h>

#include "gym/api/judge_all.h"

namespace tritonsmith::gym::api {
namespace {

JudgeJob job(std::uint64_t id, std::string kernel) {
  return {.id = id, .task = {.id = "t", .source = "s"}, .kernel = std::move(kernel)};
}

FakeJudge by_kernel() {
  return FakeJudge([](const JudgeJob& asked) {
    return asked.kernel == "good" ? accepted_verdict()
                                  : failed_verdict(Stage::extracted, ErrorClass::syntax_error);
  });
}

TEST(FakeJudge, AnswersEachJobFromTheTestsOwnFunction) {
  FakeJudge judge = by_kernel();
  ASSERT_TRUE(judge.submit(job(7, "good")));
  ASSERT_TRUE(judge.submit(job(8, "bad")));
  const auto first = *judge.next(Deadline::never());
  const auto second = *judge.next(Deadline::never());
  EXPECT_EQ(first->id, 7U);
  EXPECT_TRUE(first->verdict.accepted);
  EXPECT_EQ(first->verdict.task_id, "t");
  EXPECT_EQ(second->verdict.error->error_class, ErrorClass::syntax_error);
  EXPECT_FALSE(judge.next(Deadline::never())->has_value());
}

TEST(FakeJudge, ForgetsACancelledJob) {
  FakeJudge judge = by_kernel();
  ASSERT_TRUE(judge.submit(job(1, "good")));
  judge.cancel(1);
  EXPECT_FALSE(judge.next(Deadline::never())->has_value());
}

TEST(FakeJudge, FailsAsABrokenGymDoes) {
  FakeJudge judge = by_kernel();
  judge.break_down({"disk full"});
  EXPECT_FALSE(judge.submit(job(1, "good")));
  EXPECT_EQ(judge.next(Deadline::never()).error().message, "disk full");
}

TEST(JudgeAll, GivesTheVerdictsInTheOrderOfTheJobs) {
  FakeJudge judge([](const JudgeJob& job) {
    return job.kernel == "good" ? accepted_verdict()
                                : failed_verdict(Stage::ran, ErrorClass::wrong_value);
  });
  const auto verdicts =
      judge_all(judge, {{.kernel = "bad"}, {.kernel = "good"}, {.kernel = "bad"}});
  ASSERT_TRUE(verdicts) << verdicts.error().message;
  ASSERT_EQ(verdicts->size(), 3U);
  EXPECT_FALSE((*verdicts)[0].accepted);
  EXPECT_TRUE((*verdicts)[1].accepted);
  EXPECT_FALSE((*verdicts)[2].accepted);
}

}  // namespace
}  // namespace tritonsmith::gym::api
