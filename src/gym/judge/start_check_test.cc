#include "gym/judge/start_check.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "base/temp_dir.h"

namespace tritonsmith::gym::judge {
namespace {

// A judge that knows the cases' answers, except for one.
class Examinee : public api::Judge {
 public:
  std::string_view misjudged;
  Fault fault = Fault::none;
  int late = 0;                       // how many answers of the first honest case run out of time
  bool never_runs_the_wrong = false;  // the wrong cases then run out of time
  std::vector<std::vector<std::string>> asked_of = std::vector<std::vector<std::string>>(2);
  int misjudging = 0;  // the number of the referee that misjudges

  Status submit(api::JudgeJob job) override {
    jobs_.push_back(std::move(job));
    return ok();
  }
  Result<std::optional<api::Judged>> next(Deadline) override {
    const api::JudgeJob job = jobs_.back();  // in another order than submitted
    jobs_.pop_back();
    const SelfTestCase& asked =
        *std::ranges::find(self_test_cases(), job.kernel, &SelfTestCase::kernel);
    asked_of.at(static_cast<std::size_t>(job.self_test->referee)).emplace_back(asked.name);
    Verdict verdict{.accepted = asked.honest !=
                                (asked.name == misjudged && job.self_test->referee == misjudging),
                    .fault = fault};
    if (!asked.honest && never_runs_the_wrong)
      verdict.error = VerdictError{.error_class = ErrorClass::timeout};
    if (asked.honest && late > 0 && job.id == 0) {
      --late;
      verdict.accepted = false;
      verdict.error = VerdictError{.error_class = ErrorClass::timeout};
    }
    return std::optional(api::Judged{job.id, verdict});
  }
  void cancel(std::uint64_t) override {}

 private:
  std::vector<api::JudgeJob> jobs_;
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
  EXPECT_TRUE(self_test(judge, {}, {}));
  judge.misjudged = self_test_cases().front().name;
  const auto failed = self_test(judge, {}, {});
  ASSERT_FALSE(failed);
  EXPECT_NE(failed.error().message.find(judge.misjudged), std::string::npos);
}

TEST(SelfTest, AsksEveryRefereeEveryCaseAndNamesTheOneThatErrs) {
  Examinee judge;
  judge.misjudging = 1;
  EXPECT_TRUE(self_test(judge, {.referees = 2}, {}));
  for (auto& asked : judge.asked_of) {
    std::ranges::sort(asked);
    EXPECT_EQ(asked.size(), self_test_cases().size());
    EXPECT_EQ(std::ranges::unique(asked).size(), 0u);
  }
  judge.misjudged = self_test_cases().back().name;
  EXPECT_TRUE(self_test(judge, {.referees = 1}, {}));
  const auto failed = self_test(judge, {.referees = 2}, {});
  ASSERT_FALSE(failed);
  EXPECT_NE(failed.error().message.find("self-test of referee 1"), std::string::npos);
}

TEST(SelfTest, AsksTheProbesThoughItPassedBefore) {
  const auto directory = TempDir::make("self-test");
  Examinee judge;
  ASSERT_TRUE(self_test_once(judge, 1, directory->path(), "this program"));
  judge.asked_of[0].clear();
  ASSERT_TRUE(self_test_once(judge, 1, directory->path(), "this program"));
  const auto& asked = judge.asked_of[0];
  EXPECT_LE(asked.size(), 3u);
  const auto is_honest = [](const std::string& name) {
    return std::ranges::find(self_test_cases(), name, &SelfTestCase::name)->honest;
  };
  EXPECT_TRUE(std::ranges::any_of(asked, is_honest));
  EXPECT_FALSE(std::ranges::all_of(asked, is_honest));
  judge.misjudged = asked.front();
  EXPECT_FALSE(self_test_once(judge, 1, directory->path(), "this program"));
}

TEST(SelfTest, AsksAgainWhereTheTimeRanOut) {
  Examinee judge;
  judge.late = 2;
  EXPECT_TRUE(self_test(judge, {}, {}));
  judge.late = 3;
  EXPECT_FALSE(self_test(judge, {}, {}));
}

TEST(SelfTest, TakesATimeoutForNoRefusal) {
  Examinee judge;
  judge.never_runs_the_wrong = true;
  const auto failed = self_test(judge, {}, {});
  ASSERT_FALSE(failed);
  EXPECT_NE(failed.error().message.find("could not be judged"), std::string::npos);
}

TEST(SelfTest, TellsWhatCouldNotBeJudgedFromWhatWasMisjudged) {
  Examinee judge;
  judge.fault = Fault::infrastructure;
  EXPECT_NE(self_test(judge, {}, {}).error().message.find("could not be judged"),
            std::string::npos);
}

TEST(SelfTest, IsNotRepeatedByWhatPassedAndIsByAnythingElse) {
  const auto directory = TempDir::make("self-test");
  const std::filesystem::path folder = directory->path() / "new";
  Examinee judge;
  ASSERT_TRUE(self_test_once(judge, 1, folder, "this program"));
  judge.misjudged = self_test_cases().front().name;
  EXPECT_TRUE(self_test_once(judge, 1, folder, "this program"));  // that case is no probe
  EXPECT_FALSE(self_test_once(judge, 1, folder, "another program"));
  EXPECT_FALSE(self_test_once(judge, 1, folder, "another program"));
  EXPECT_FALSE(self_test_once(judge, 1, {}, "this program"));
}

}  // namespace
}  // namespace tritonsmith::gym::judge
