#include "eval/judge_samples.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "base/file.h"
#include "base/temp_dir.h"
#include "gym/api/fault_streak.h"
#include "gym/api/testing/fake_judge.h"

namespace tritonsmith::eval {
namespace {

using ::testing::HasSubstr;

class JudgeSamples : public testing::Test {
 protected:
  void SetUp() override {
    auto made = TempDir::make("judge-samples-test");
    ASSERT_TRUE(made);
    directory_.emplace(std::move(*made));
    add({1, 2, 0}, "right");
    add({1, 2, 1}, "wrong");
    add({1, 10, 0}, "right");
  }
  void add(SampleName name, const std::string& kernel) {
    const Task& task = name.level == 2 ? tasks_[2] : tasks_[name.problem == 2 ? 0 : 1];
    samples_.push_back({.name = name, .kernel = kernel, .task = &task});
  }

  Result<JudgedSamples> run() {
    gym::api::FakeJudge judge([this](const gym::api::JudgeJob& job) {
      asked_.push_back(job.task.id + " " + job.kernel);
      if (job.kernel == faulty_) return Verdict{.fault = Fault::infrastructure};
      if (job.kernel == "right") return gym::api::accepted_verdict();
      Verdict verdict = gym::api::failed_verdict(Stage::ran, ErrorClass::wrong_value);
      if (job.kernel == "large") verdict.fault = Fault::none;
      return verdict;
    });
    asked_.clear();
    return judge_samples(
        samples_,
        {.suite = "suite", .folder = "folder", .policy = policy_, .directory = directory_->path()},
        judge);
  }
  bool has(const std::string& file) const {
    return std::filesystem::exists(directory_->path() / file);
  }
  Json results(const std::string& file = "eval_results.json") const {
    const auto text = read_file(directory_->path() / file);
    EXPECT_TRUE(text) << text.error().message;
    return text ? Json::parse(*text) : Json();
  }

  const std::vector<Task> tasks_ = {{.id = "level1/2_A", .source = "pass"},
                                    {.id = "level1/10_B", .source = "pass"},
                                    {.id = "level2/1_C", .source = "pass"}};
  std::optional<TempDir> directory_;
  std::vector<FolderSample> samples_;
  std::vector<std::string> asked_;
  std::string faulty_;
  Policy policy_ = Policy::strict;
};

TEST_F(JudgeSamples, WritesKernelBenchsResultsAndOurOwn) {
  const auto judged = run();
  ASSERT_TRUE(judged) << judged.error().message;
  EXPECT_TRUE(judged->gym);
  EXPECT_THAT(judged->without_result, testing::IsEmpty());
  const Json all = results();
  EXPECT_EQ(all.size(), 2U);
  EXPECT_EQ(all["2"][0]["correctness"], true);
  EXPECT_EQ(all["2"][1]["correctness"], false);
  EXPECT_EQ(all["2"][1]["sample_id"], 1);
  EXPECT_EQ(all["10"][0]["sample_id"], 0);
  ASSERT_TRUE(judged->evaluation);
  EXPECT_EQ(judged->evaluation->tasks, 2);
  EXPECT_NEAR(judged->evaluation->sampled.accepted, 2.0 / 3, 1e-12);
  EXPECT_FALSE(judged->evaluation->greedy);
  EXPECT_EQ(judged->evaluation->levels.at(0).level, "level1");
  EXPECT_TRUE(has("evaluation.json"));
}

TEST_F(JudgeSamples, JudgesNoSampleTwiceUnlessItsTextChanged) {
  ASSERT_TRUE(run());
  EXPECT_EQ(asked_.size(), 3U);
  const Json first = results();
  ASSERT_TRUE(run());
  EXPECT_THAT(asked_, testing::IsEmpty());
  EXPECT_EQ(results(), first);
  samples_[1].kernel = "right";
  ASSERT_TRUE(run());
  EXPECT_THAT(asked_, testing::ElementsAre("level1/2_A right"));
  EXPECT_EQ(results()["2"][1]["correctness"], true);
}

TEST_F(JudgeSamples, KnowsASampleAgainThatIsNoUtf8) {
  samples_[1].kernel = "wrong \xff";
  ASSERT_TRUE(run());
  ASSERT_TRUE(run());
  EXPECT_THAT(asked_, testing::IsEmpty());
}

TEST_F(JudgeSamples, GoesOnWhereAKilledCallStopped) {
  ASSERT_TRUE(run());
  const auto lines = read_lines(directory_->path() / "samples.jsonl");
  ASSERT_TRUE(lines);
  std::ofstream(directory_->path() / "samples.jsonl") << (*lines)[0] << '\n'
                                                      << (*lines)[1].substr(0, 40);
  std::filesystem::remove(directory_->path() / "eval_results.json");
  ASSERT_TRUE(run());
  EXPECT_THAT(asked_, testing::ElementsAre("level1/2_A wrong", "level1/10_B right"));
  EXPECT_EQ(results().size(), 2U);
  EXPECT_EQ(read_lines(directory_->path() / "samples.jsonl").value().size(), 3U);
}

TEST_F(JudgeSamples, AFaultIsNoResultAndIsJudgedByTheNextCall) {
  faulty_ = "wrong";
  const auto judged = run();
  ASSERT_TRUE(judged) << judged.error().message;
  ASSERT_EQ(judged->without_result.size(), 1U);
  EXPECT_EQ(judged->without_result[0].file, "level_1_problem_2_sample_1_kernel.py");
  EXPECT_EQ(judged->without_result[0].fault, Fault::infrastructure);
  EXPECT_EQ(results()["2"].size(), 1U) << "the sample is left out, and not false";
  EXPECT_DOUBLE_EQ(judged->evaluation->sampled.accepted, 1);
  faulty_.clear();
  const auto again = run();
  EXPECT_THAT(asked_, testing::ElementsAre("level1/2_A wrong"));
  EXPECT_THAT(again->without_result, testing::IsEmpty());
  EXPECT_EQ(results()["2"].size(), 2U);
}

TEST_F(JudgeSamples, ABrokenGymEndsTheCallAndKeepsWhatWasJudged) {
  faulty_ = "broken";
  for (int i = 0; i < 2 * gym::api::kFaultsInARow; ++i) add({1, 10, i + 1}, "broken");
  const auto judged = run();
  ASSERT_TRUE(judged) << judged.error().message;
  ASSERT_FALSE(judged->gym);
  EXPECT_EQ(judged->gym.error().kind, ErrorKind::fault);
  EXPECT_EQ(judged->without_result.size(), 2U * gym::api::kFaultsInARow);
  EXPECT_LT(asked_.size(), samples_.size());
  EXPECT_EQ(results()["2"].size(), 2U);
}

TEST_F(JudgeSamples, WritesNoFileOfResultsWithoutAny) {
  samples_.resize(1);
  faulty_ = "right";
  const auto judged = run();
  ASSERT_TRUE(judged) << judged.error().message;
  EXPECT_FALSE(judged->evaluation);
  EXPECT_FALSE(has("eval_results.json"));
  EXPECT_FALSE(has("evaluation.json"));
}

TEST_F(JudgeSamples, ASampleThatThisMachineCannotJudgeHasNoResultEither) {
  samples_[1].kernel = "large";
  const auto judged = run();
  ASSERT_TRUE(judged) << judged.error().message;
  ASSERT_EQ(judged->without_result.size(), 1U);
  EXPECT_EQ(judged->without_result[0].fault, Fault::none);
  EXPECT_EQ(judged->without_result[0].reason, "as the test says");
  EXPECT_EQ(results()["2"].size(), 1U);
}

TEST_F(JudgeSamples, WritesAFileForEachOfSeveralLevels) {
  ASSERT_TRUE(run());
  EXPECT_TRUE(has("eval_results.json"));
  add({2, 1, 0}, "right");
  ASSERT_TRUE(run());
  EXPECT_FALSE(has("eval_results.json")) << "it would hold the results of one level alone";
  EXPECT_EQ(results("eval_results_level_1.json").size(), 2U);
  EXPECT_EQ(results("eval_results_level_2.json").size(), 1U);
}

TEST_F(JudgeSamples, OverwritesNoResultsOfAnotherProgram) {
  std::ofstream(directory_->path() / "eval_results.json") << "{}";
  const auto judged = run();
  ASSERT_FALSE(judged);
  EXPECT_THAT(judged.error().message,
              HasSubstr("eval_results.json: was written by another program"));
  EXPECT_THAT(asked_, testing::IsEmpty());
}

TEST_F(JudgeSamples, GoesOnUnderTheSameOptionsOnly) {
  ASSERT_TRUE(run());
  policy_ = Policy::open;
  const auto judged = run();
  ASSERT_FALSE(judged);
  EXPECT_THAT(judged.error().message, HasSubstr("policy"));
}

}  // namespace
}  // namespace tritonsmith::eval
