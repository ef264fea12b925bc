#include "eval/evaluate.h"

#include <gtest/gtest.h>

#include <fstream>

#include "base/file.h"
#include "base/temp_dir.h"
#include "data/sample.h"
#include "generate/testing/scripted_writer.h"
#include "gym/api/testing/fake_judge.h"

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
    for (const char* id : {"a", "b", "c"}) tasks_.push_back({.id = id, .source = "pass"});
  }

  // Greedy completions are right, and sampled ones only for the first task. Those of the third task
  // hold no code.
  std::string write(const generate::WriteRequest& request) {
    ++written_;
    const std::string& task = request.messages[0].content;
    if (task == "a" && request.messages.size() > 1) return kFast;
    if (task == "c") return "no code";
    const bool right = request.sampling.temperature == 0 || task == "a";
    return right ? kAnswer : "<answer>\n```python\nwrong\n```\n</answer>";
  }

  Result<Evaluation> run() {
    generate::ScriptedWriter writer([this](const auto& request) { return write(request); });
    gym::api::FakeJudge judge([this](const gym::api::JudgeJob& job) {
      EXPECT_EQ(job.baselines, baselines_);
      Verdict right = gym::api::accepted_verdict();
      right.speedup = job.kernel.find("fast") != std::string::npos ? 3 : 1;
      return job.kernel.find("wrong") == std::string::npos
                 ? right
                 : gym::api::failed_verdict(Stage::ran, ErrorClass::wrong_value);
    });
    return evaluate(tasks_,
                    {.name = "test",
                     .samples = 2,
                     .baselines = baselines_,
                     .seed = seed_,
                     .turns = turns_,
                     .directory = directory_->path()},
                    prompted(writer), judge);
  }
  static PromptedWriter prompted(generate::Writer& writer) {
    return {.writer = writer, .prompt = [](const Task& task) {
              return std::vector<text::Message>{{text::Role::user, task.id}};
            }};
  }

  std::uint64_t seed_ = 1;
  episode::TurnsConfig turns_;
  const std::vector<std::string> baselines_ = {"eager"};
  std::optional<TempDir> directory_;
  std::vector<Task> tasks_;
  int written_ = 0;
};

TEST_F(EvaluateTest, JudgesOneGreedyAndAllSampledCompletionsOfEachTask) {
  const auto evaluation = run();
  ASSERT_TRUE(evaluation) << evaluation.error().message;
  EXPECT_EQ(written_, 9);
  EXPECT_NEAR(evaluation->greedy.value().accepted, 2.0 / 3, 1e-12);
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
  resumed->date = whole->date;
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
  resumed->date = whole->date;
  EXPECT_EQ(to_json(*resumed), to_json(*whole));
}

TEST_F(EvaluateTest, MarksTasksByWhatIsKnownAndByWhatVerdictsSay) {
  generate::ScriptedWriter writer([](const auto&) { return kAnswer; });
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
                                   prompted(writer), judge);
  ASSERT_TRUE(evaluation) << evaluation.error().message;
  ASSERT_TRUE(evaluation->sound);
  EXPECT_EQ(evaluation->sound->tasks, 1);
  EXPECT_EQ(evaluation->by_task[1].marks, std::vector<std::string>{"task_ignores_input"});
}

TEST_F(EvaluateTest, RecordsThePromptAndTheUsageOfAWriterWithoutTokens) {
  ASSERT_TRUE(run());
  const auto lines = read_lines(directory_->path() / "samples.jsonl");
  ASSERT_TRUE(lines);
  for (const std::string& line : *lines) {
    const auto sample = sample_from_json(*parse_json(line));
    ASSERT_TRUE(sample) << sample.error().message;
    EXPECT_EQ(sample->prompt, "[user]\n" + sample->task_id + "\n");
    EXPECT_TRUE(sample->completion.tokens.empty());
    EXPECT_GT(sample->completion.usage.completion_tokens, 0);
    EXPECT_GT(sample->completion.usage.prompt_tokens, 0);
  }
}

TEST_F(EvaluateTest, RefusesTheRecordsOfAnotherEvaluation) {
  ASSERT_TRUE(run());
  tasks_[0].id = "other";
  const auto evaluation = run();
  ASSERT_FALSE(evaluation);
  EXPECT_NE(evaluation.error().message.find("another evaluation"), std::string::npos);
}

TEST_F(EvaluateTest, RefusesToGoOnWithOtherOptionsAndNamesTheOption) {
  ASSERT_TRUE(run());
  seed_ = 2;
  const auto evaluation = run();
  ASSERT_FALSE(evaluation);
  EXPECT_NE(evaluation.error().message.find("began with seed 1, not 2"), std::string::npos)
      << evaluation.error().message;
  seed_ = 1;
  EXPECT_TRUE(run());
}

TEST_F(EvaluateTest, StopsWhenTheGymHasNothingButFaultsAndJudgesThemAnew) {
  generate::ScriptedWriter writer([](const auto&) { return kAnswer; });
  bool broken = true;
  gym::api::FakeJudge judge([&](const gym::api::JudgeJob&) {
    if (!broken) return gym::api::accepted_verdict();
    Verdict verdict;
    verdict.fault = Fault::infrastructure;
    verdict.error = VerdictError{.error_class = ErrorClass::infrastructure, .message = "no zygote"};
    return verdict;
  });
  const auto evaluated = [&] {
    return evaluate(tasks_, {.name = "test", .samples = 2, .directory = directory_->path()},
                    prompted(writer), judge);
  };
  EXPECT_NE(evaluated().error().message.find("the last 9 verdicts"), std::string::npos);
  broken = false;
  const auto evaluation = evaluated();
  ASSERT_TRUE(evaluation) << evaluation.error().message;
  EXPECT_EQ(evaluation->sampled.accepted, 1);
}

}  // namespace
}  // namespace tritonsmith::eval
