#include "gym/schedule/start_check.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "base/temp_dir.h"

namespace tritonsmith::gym {
namespace {

// Knows the cases by heart, but for one.
class Examinee : public Judge {
 public:
  std::string_view misjudged;
  Fault fault = Fault::none;
  int late = 0;                       // answers of the first honest case that run out of time
  bool never_runs_the_wrong = false;  // which then run out of time

  Status submit(JudgeJob job) override {
    jobs_.push_back(std::move(job));
    return ok();
  }
  Result<std::optional<Judged>> next(Deadline) override {
    const JudgeJob job = jobs_.back();  // in another order than asked
    jobs_.pop_back();
    const SelfTestCase& asked = self_test_cases()[job.id];
    Verdict verdict{.accepted = asked.honest != (asked.name == misjudged), .fault = fault};
    if (!asked.honest && never_runs_the_wrong)
      verdict.error = VerdictError{.error_class = "timeout"};
    if (asked.honest && late > 0 && job.id == 0) {
      --late;
      verdict.accepted = false;
      verdict.error = VerdictError{.error_class = "timeout"};
    }
    return std::optional(Judged{job.id, verdict});
  }
  void cancel(std::uint64_t) override {}

 private:
  std::vector<JudgeJob> jobs_;
};

TEST(SelfTest, HasHonestAndHostileKernelsWithTheirTasks) {
  const auto cases = self_test_cases();
  const auto honest = std::ranges::count(cases, true, &SelfTestCase::honest);
  EXPECT_GE(honest, 4);
  EXPECT_GE(std::ssize(cases) - honest, 6);
  for (const SelfTestCase& one : cases) {
    EXPECT_NE(one.task.find("class Model("), std::string_view::npos) << one.name;
    EXPECT_NE(one.kernel.find("class ModelNew("), std::string_view::npos) << one.name;
  }
}

TEST(SelfTest, PassesAJudgeThatIsRightAndNamesTheKernelThatOneMisjudges) {
  Examinee judge;
  EXPECT_TRUE(self_test(judge, {}));
  judge.misjudged = self_test_cases().front().name;
  const auto failed = self_test(judge, {});
  ASSERT_FALSE(failed);
  EXPECT_NE(failed.error().message.find(judge.misjudged), std::string::npos);
}

TEST(SelfTest, AsksAgainWhereTheTimeRanOut) {
  Examinee judge;
  judge.late = 2;
  EXPECT_TRUE(self_test(judge, {}));
  judge.late = 3;
  EXPECT_FALSE(self_test(judge, {}));
}

TEST(SelfTest, TakesATimeoutForNoRefusal) {
  Examinee judge;
  judge.never_runs_the_wrong = true;
  const auto failed = self_test(judge, {});
  ASSERT_FALSE(failed);
  EXPECT_NE(failed.error().message.find("could not be judged"), std::string::npos);
}

TEST(SelfTest, TellsWhatCouldNotBeJudgedFromWhatWasMisjudged) {
  Examinee judge;
  judge.fault = Fault::infrastructure;
  EXPECT_NE(self_test(judge, {}).error().message.find("could not be judged"), std::string::npos);
}

TEST(SelfTest, IsNotRepeatedByWhatPassedAndIsByAnythingElse) {
  const auto directory = TempDir::make("self-test");
  const std::filesystem::path folder = directory->path() / "new";
  Examinee judge;
  ASSERT_TRUE(self_test_once(judge, folder, "this program"));
  judge.misjudged = self_test_cases().front().name;
  EXPECT_TRUE(self_test_once(judge, folder, "this program"));
  EXPECT_FALSE(self_test_once(judge, folder, "another program"));
  EXPECT_FALSE(self_test_once(judge, folder, "another program"));
  EXPECT_FALSE(self_test_once(judge, {}, "this program"));
}

}  // namespace
}  // namespace tritonsmith::gym
