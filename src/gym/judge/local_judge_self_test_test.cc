// Tests the self-test with a whole judge.
#include <gtest/gtest.h>

#include <algorithm>

#include "gym/judge/start_check.h"
#include "gym/judge/testing/local_judge_fixture.h"

namespace tritonsmith::gym::judge {
namespace {

referee::RefereeReport wrong_report() {
  return {.ran = true,
          .error = VerdictError{.error_class = ErrorClass::wrong_value},
          .fault = Fault::candidate};
}

// The plans say by their kernel's name whether they are right.
struct SelfTestedJudgeTest : LocalJudgeTest {
  SelfTestedJudgeTest() {
    pool->on_capture = [](const capture::CaptureRequest& request) {
      plan::Plan plan = *plan::parse_plan(plan_json(request.role == capture::CaptureRole::task
                                                        ? plan::PlanRole::task
                                                        : plan::PlanRole::candidate));
      const auto one = std::ranges::find(self_test_cases(), request.source, &SelfTestCase::kernel);
      if (one != self_test_cases().end()) plan.kernels.at(0).name = one->honest ? "right" : "wrong";
      return captured(plan::to_json(plan).dump());
    };
  }
  static RefereeOutcome judge_rightly(const referee::RefereeJob& job) {
    const bool is_wrong = job.candidate_plan.find("\"wrong\"") != std::string::npos;
    return is_wrong ? wrong_report() : good_report();
  }
};

TEST_F(SelfTestedJudgeTest, PutsEveryCaseToTheRefereeOfEveryGpu) {
  std::vector<int> asked(3);
  for (int& count : asked)
    on_gpus.push_back([&count](const referee::RefereeJob& job) {
      ++count;
      return judge_rightly(job);
    });
  ASSERT_TRUE(self_test(judge(), {.referees = judge().referees()}, {}));
  EXPECT_EQ(asked, std::vector<int>(3, static_cast<int>(self_test_cases().size())));
}

TEST_F(SelfTestedJudgeTest, FailsWhereOneGpuOfSeveralErrs) {
  on_gpus = {judge_rightly, [](const referee::RefereeJob&) { return good_report(); },
             judge_rightly};
  const auto failed = self_test(judge(), {.referees = judge().referees()}, {});
  ASSERT_FALSE(failed);
  EXPECT_NE(failed.error().message.find("self-test of referee 1"), std::string::npos);
}

TEST_F(SelfTestedJudgeTest, TellsTheRefereeWhichKernelsAreProbes) {
  std::vector<referee::Probe> probes;
  referee = [&](const referee::RefereeJob& job) {
    probes.push_back(job.probe);
    return judge_rightly(job);
  };
  config.referees = 1;
  ASSERT_TRUE(self_test(judge(), {}, {}));
  verdict_of_one(job(1));
  EXPECT_EQ(std::ranges::count(probes, referee::Probe::right), 1);
  EXPECT_EQ(std::ranges::count(probes, referee::Probe::wrong), 2);
  EXPECT_EQ(probes.back(), referee::Probe::none);
}

}  // namespace
}  // namespace tritonsmith::gym::judge
