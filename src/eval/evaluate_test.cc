#include "eval/evaluate.h"

#include <gtest/gtest.h>

#include <fstream>

#include "base/file.h"
#include "base/temp_dir.h"
#include "gym/api/testing/fake_judge.h"
#include "rollout/testing/fake_generator.h"
#include "text/testing/small_tokenizer.h"

namespace tritonsmith::eval {
namespace {

const std::string kFast = "<answer>\n```python\nfast\n```\n</answer>";
const std::string kAnswer = "<answer>\n```python\nright\n```\n</answer>";

class EvaluateTest : public testing::Test {
 protected:
  void SetUp() override {
    auto made = TempDir::make("evaluate-test");
    ASSERT_TRUE(made);
    directory_.emplace(std::move(*made));
    tokenizer_.emplace(text::small_tokenizer());
    chat_.emplace(*text::ChatTemplate::make(*tokenizer_));
    for (const char* id : {"a", "b", "c"}) tasks_.push_back({.id = id, .source = "pass"});
  }

  // Greedy completions are right, sampled ones are so for the first task only, the third task's
  // hold no code at all.
  std::vector<TokenId> write(const rollout::GenerationRequest& request) {
    ++written_;
    const std::string prompt = tokenizer_->decode(request.prompt);
    if (prompt.starts_with("a") && prompt.size() > 1) return tokenizer_->encode(kFast);
    if (prompt == "c") return tokenizer_->encode("no code");
    const bool right = request.sampling.temperature == 0 || prompt == "a";
    return tokenizer_->encode(right ? kAnswer : "<answer>\n```python\nwrong\n```\n</answer>");
  }

  Result<Evaluation> run() {
    rollout::FakeGenerator generator([this](const auto& request) { return write(request); });
    gym::api::FakeJudge judge([this](const gym::api::JudgeJob& job) {
      EXPECT_EQ(job.baselines, baselines_);
      Verdict right = gym::api::accepted_verdict();
      right.speedup = job.kernel.find("fast") != std::string::npos ? 3 : 1;
      return job.kernel.find("wrong") == std::string::npos
                 ? right
                 : gym::api::failed_verdict(Stage::ran, "wrong_value");
    });
    return evaluate(tasks_,
                    {.name = "test",
                     .samples = 2,
                     .baselines = baselines_,
                     .turns = turns_,
                     .directory = directory_->path()},
                    author(generator), judge);
  }
  Author author(rollout::Generator& generator) const {
    return {.generator = generator,
            .tokenizer = *tokenizer_,
            .chat = *chat_,
            .prompt = [this](const Task& task) { return tokenizer_->encode(task.id); }};
  }

  std::optional<text::ChatTemplate> chat_;
  episode::TurnsConfig turns_;
  const std::vector<std::string> baselines_ = {"eager"};
  std::optional<TempDir> directory_;
  std::optional<text::Tokenizer> tokenizer_;
  std::vector<Task> tasks_;
  int written_ = 0;
};

TEST_F(EvaluateTest, JudgesOneGreedyAndAllSampledCompletionsOfEachTask) {
  const auto evaluation = run();
  ASSERT_TRUE(evaluation) << evaluation.error().message;
  EXPECT_EQ(written_, 9);
  EXPECT_NEAR(evaluation->greedy.accepted, 2.0 / 3, 1e-12);
  EXPECT_NEAR(evaluation->sampled.accepted, 1.0 / 3, 1e-12);
  EXPECT_EQ(evaluation->errors.at("no_kernel"), 2);
  EXPECT_EQ(evaluation->errors.at("wrong_value"), 2);
  EXPECT_TRUE(std::filesystem::exists(directory_->path() / "evaluation.json"));
}

TEST_F(EvaluateTest, GoesOnWhereAKilledOneStopped) {
  const auto whole = run();
  ASSERT_TRUE(whole);
  const auto records = directory_->path() / "samples.jsonl";
  auto lines = read_lines(records);
  ASSERT_TRUE(lines);
  std::ofstream(records) << (*lines)[0] << '\n' << (*lines)[1] << '\n' << (*lines)[2].substr(0, 40);
  written_ = 0;
  auto resumed = run();
  ASSERT_TRUE(resumed) << resumed.error().message;
  EXPECT_EQ(written_, 7);
  resumed->seconds = whole->seconds;
  EXPECT_EQ(to_json(*resumed), to_json(*whole));
}

TEST_F(EvaluateTest, GoesOnFromTurnToTurn) {
  // The first task's second turn is fast; the others stay as they are.
  turns_ = {.limit = 3, .end_when = episode::EndWhen::fast};
  turns_.fast_speedup = 2;
  const auto evaluation = run();
  ASSERT_TRUE(evaluation) << evaluation.error().message;
  EXPECT_EQ(evaluation->turns, 3);
  ASSERT_EQ(evaluation->by_turn.size(), 3U);
  EXPECT_GT(evaluation->by_turn[2].tokens, evaluation->by_turn[0].tokens);
  EXPECT_NEAR(evaluation->sampled.accepted, 1.0 / 3, 1e-12);
}

TEST_F(EvaluateTest, GoesOnInTheMiddleOfAConversation) {
  turns_.limit = 3;
  const auto whole = run();
  ASSERT_TRUE(whole) << whole.error().message;
  EXPECT_EQ(written_, 27);
  const auto records = directory_->path() / "samples.jsonl";
  auto lines = read_lines(records);
  std::ofstream(records) << (*lines)[0] << '\n';
  written_ = 0;
  auto resumed = run();
  ASSERT_TRUE(resumed) << resumed.error().message;
  EXPECT_EQ(written_, 26);
  resumed->seconds = whole->seconds;
  EXPECT_EQ(to_json(*resumed), to_json(*whole));
}

TEST_F(EvaluateTest, MarksTasksByWhatIsKnownAndByWhatVerdictsSay) {
  rollout::FakeGenerator generator([this](const auto&) { return tokenizer_->encode(kAnswer); });
  gym::api::FakeJudge judge([](const gym::api::JudgeJob& job) {
    Verdict verdict = gym::api::accepted_verdict();
    if (job.task.id == "b")
      verdict.findings = {{.rule = "task_ignores_input", .severity = Severity::warn}};
    return verdict;
  });
  const auto evaluation = evaluate(tasks_,
                                   {.name = "test",
                                    .samples = 2,
                                    .marks = {{"a", {"task_zeros_pass"}}},
                                    .directory = directory_->path()},
                                   author(generator), judge);
  ASSERT_TRUE(evaluation) << evaluation.error().message;
  ASSERT_TRUE(evaluation->sound);
  EXPECT_EQ(evaluation->sound->tasks, 1);
  EXPECT_EQ(evaluation->by_task[1].marks, std::vector<std::string>{"task_ignores_input"});
}

TEST_F(EvaluateTest, RefusesTheRecordsOfAnotherEvaluation) {
  ASSERT_TRUE(run());
  tasks_[0].id = "other";
  const auto evaluation = run();
  ASSERT_FALSE(evaluation);
  EXPECT_NE(evaluation.error().message.find("another evaluation"), std::string::npos);
}

TEST_F(EvaluateTest, StopsWhenTheGymHasNothingButFaultsAndJudgesThemAnew) {
  rollout::FakeGenerator generator([this](const auto&) { return tokenizer_->encode(kAnswer); });
  bool broken = true;
  gym::api::FakeJudge judge([&](const gym::api::JudgeJob&) {
    if (!broken) return gym::api::accepted_verdict();
    Verdict verdict;
    verdict.fault = Fault::infrastructure;
    verdict.error = VerdictError{.error_class = "infrastructure", .message = "no zygote"};
    return verdict;
  });
  const auto evaluated = [&] {
    return evaluate(tasks_, {.name = "test", .samples = 2, .directory = directory_->path()},
                    author(generator), judge);
  };
  EXPECT_NE(evaluated().error().message.find("the last 9 verdicts"), std::string::npos);
  broken = false;
  const auto evaluation = evaluated();
  ASSERT_TRUE(evaluation) << evaluation.error().message;
  EXPECT_EQ(evaluation->sampled.accepted, 1);
}

}  // namespace
}  // namespace tritonsmith::eval
