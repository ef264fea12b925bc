// A judge has each task linted once by a referee, and adds the findings to its verdicts.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>

#include "gym/judge/testing/local_judge_fixture.h"

namespace tritonsmith::gym::judge {
namespace {

referee::RefereeReport degenerate() {
  referee::RefereeReport report;
  report.findings = {{.rule = "task_zeros_pass", .severity = Severity::warn, .message = "m"}};
  return report;
}

TEST_F(LocalJudgeTest, LooksAtATaskOnceAndSaysWhatItFoundInEveryVerdictOfEitherBackend) {
  on_gpus.assign(2, [](const referee::RefereeJob&) { return good_report(); });
  std::atomic<int> looks = 0;
  look = [&](const referee::RefereeJob& asked) {
    ++looks;
    EXPECT_LT(asked.budget.seconds, config.referee_seconds);
    return degenerate();
  };
  pool->on_capture = [](const capture::CaptureRequest& request) {
    if (request.source == "fails") return capture_failure(Stage::parsed, ErrorClass::exception, 1);
    return captured(plan_json(request.role == capture::CaptureRole::task
                                  ? plan::PlanRole::task
                                  : plan::PlanRole::candidate));
  };
  const std::vector<std::string> kernels = {"one", "two", "three", "fails"};
  int expected = 0;
  for (const Backend backend : {Backend::replay, Backend::evaluate}) {
    for (std::size_t k = 0; k < kernels.size(); ++k) {
      api::JudgeJob one = job(k, kernels[k]);
      one.backend = backend;
      ASSERT_TRUE(judge().submit(one));
    }
    for (std::size_t k = 0; k < kernels.size(); ++k) {
      const auto judged = *judge().next(Deadline::after(std::chrono::seconds(10)));
      ASSERT_TRUE(judged);
      EXPECT_EQ(std::ranges::count(judged->verdict.findings, "task_zeros_pass", &Finding::rule), 1)
          << kernels[judged->id];
      EXPECT_EQ(judged->verdict.accepted, kernels[judged->id] != "fails") << "it is no rejection";
    }
    EXPECT_EQ(looks, ++expected);
  }
  api::JudgeJob otherwise = job(9);
  otherwise.comparison = Comparison::allclose;
  verdict_of_one(otherwise);
  EXPECT_EQ(looks, 3) << "another comparison lets other answers pass";
}

TEST_F(LocalJudgeTest, TellsInEachVerdictWhichFaultsItsTrialsWouldNotSee) {
  look = [](const referee::RefereeJob& asked) {
    EXPECT_EQ(asked.adequacy_secrets, 2);
    EXPECT_FALSE(asked.adequacy_only);
    referee::RefereeReport report;
    report.adequacy = Adequacy{
        .faults = {{.what = "relu is left out", .kind = "left_out", .trial = "plain"},
                   {.what = "x is zeros", .kind = "operand", .end = FaultEnd::within_tolerance}}};
    return report;
  };
  config.adequacy_secrets = 2;
  const Verdict verdict = verdict_of_one(job(1));
  EXPECT_TRUE(verdict.accepted);
  ASSERT_EQ(verdict.findings.size(), 2U);
  EXPECT_EQ(verdict.findings[0].rule, "task_adequacy");
  EXPECT_NE(verdict.findings[0].message.find("1 of 2 faults"), std::string::npos);
  EXPECT_NE(verdict.findings[0].message.find("x is zeros"), std::string::npos);
  EXPECT_EQ(verdict.findings[1].rule, "task_poorly_tested");
}

TEST_F(LocalJudgeTest, JudgesThoughATaskCouldNotBeLookedAt) {
  std::atomic<int> looks = 0;
  look = [&](const referee::RefereeJob&) -> RefereeOutcome {
    if (++looks > 2) return degenerate();
    return RefereeFailure{RefereeFailure::Kind::infrastructure, "it died"};
  };
  const Verdict first = verdict_of_one(job(1));
  EXPECT_TRUE(first.accepted);
  ASSERT_EQ(first.findings.size(), 1U);
  EXPECT_EQ(first.findings[0].rule, "task_not_linted");
  EXPECT_EQ(first.findings[0].message, "the task was not checked: it died");
  EXPECT_EQ(looks, 2);
  EXPECT_EQ(verdict_of_one(job(2, "other")).findings.at(0).rule, "task_zeros_pass");
}

TEST_F(LocalJudgeTest, ForgetsACancelledJobThatWaitsForALookAtItsTask) {
  std::atomic<bool> may_end = false;
  look = [&](const referee::RefereeJob&) {
    while (!may_end) std::this_thread::yield();
    return degenerate();
  };
  config.referees = 2;
  ASSERT_TRUE(judge().submit(job(1)));
  ASSERT_TRUE(judge().submit(job(2, "other")));
  judge().cancel(1);
  may_end = true;
  EXPECT_EQ((*judge().next(Deadline::after(std::chrono::seconds(10))))->id, 2U);
  EXPECT_FALSE(judge().next(Deadline::after(std::chrono::seconds(10)))->has_value());
}

}  // namespace
}  // namespace tritonsmith::gym::judge
