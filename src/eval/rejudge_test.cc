#include "eval/rejudge.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "gym/api/testing/fake_judge.h"

namespace tritonsmith::eval {
namespace {

std::vector<Suspect> suspects() {
  const std::vector<Task> tasks = {{.id = "a", .source = "pass"},
                                   {.id = "a+flat", .source = "pass"}};
  return {{.origin = "one", .kernel = "right", .tasks = tasks},
          {.origin = "two", .kernel = "knows one size", .tasks = tasks}};
}

TEST(Rejudge, TriesEachKernelOnEachOfItsTasksAndNamesWhatIsRefused) {
  gym::api::FakeJudge judge([](const gym::api::JudgeJob& job) {
    return job.kernel == "right" || job.task.id == "a"
               ? gym::api::accepted_verdict()
               : gym::api::failed_verdict(Stage::ran, ErrorClass::wrong_value);
  });
  const auto report = rejudge(suspects(), {.trials = 12}, judge);
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(report->kernels, 2);
  EXPECT_EQ(report->verdicts, 4);
  ASSERT_THAT(report->refusals, testing::SizeIs(1));
  EXPECT_EQ(report->refusals[0].origin, "two");
  EXPECT_EQ(report->refusals[0].verdict.task_id, "a+flat");
  for (const gym::api::JudgeJob& job : judge.jobs()) {
    EXPECT_EQ(job.trials, 12);
    EXPECT_FALSE(job.use_store) << "a remembered verdict proves nothing";
  }
}

TEST(Rejudge, NamesTheKernelsThatRulesWhichOnlyWarnHaveSomethingAgainst) {
  gym::api::FakeJudge judge([](const gym::api::JudgeJob& job) {
    Verdict verdict = gym::api::accepted_verdict();
    verdict.findings = {{"task_zeros_pass", Severity::warn, 0, ""},
                        {"fp32", Severity::note, 0, ""}};
    if (job.kernel != "right") verdict.findings.push_back({"hooks", Severity::warn, 3, ""});
    return verdict;
  });
  const auto report = rejudge(suspects(), {}, judge);
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_THAT(report->refusals, testing::IsEmpty());
  EXPECT_THAT(report->warnings,
              testing::ElementsAre(testing::Pair("hooks", testing::ElementsAre("two"))));
}

TEST(Rejudge, AFaultOfTheGymPassesNobody) {
  gym::api::FakeJudge judge([](const gym::api::JudgeJob& job) {
    Verdict verdict = gym::api::accepted_verdict();
    if (job.id == 0) verdict = {.fault = Fault::infrastructure};
    return verdict;
  });
  const auto report = rejudge(suspects(), {}, judge);
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_THAT(report->refusals, testing::IsEmpty()) << "nothing is said against the kernel";
  EXPECT_EQ(report->faults, 1);
  const auto found = retry_refused(suspects(), {}, judge);
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().kind, ErrorKind::fault);
}

TEST(RetryRefused, TellsWhoIsRightOnItsOwnTaskFromWhoIsRightOnAll) {
  std::vector<Suspect> refused = suspects();
  refused.push_back({.origin = "three", .kernel = "wrong", .tasks = refused[0].tasks});
  gym::api::FakeJudge judge([](const gym::api::JudgeJob& job) {
    return job.kernel == "right" || (job.kernel == "knows one size" && job.task.id == "a")
               ? gym::api::accepted_verdict()
               : gym::api::failed_verdict(Stage::ran, ErrorClass::wrong_value);
  });
  const auto found = retry_refused(refused, {.trials = 12}, judge);
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ(found->kernels, 3);
  EXPECT_EQ(found->verdicts, 5) << "who fails on its own task is not tried on others";
  EXPECT_THAT(found->on_their_task, testing::ElementsAre("one", "two"));
  EXPECT_THAT(found->on_all, testing::ElementsAre("one"));
}

}  // namespace
}  // namespace tritonsmith::eval
