#include "train/rl.h"

#include <ATen/Parallel.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "base/file.h"
#include "base/log.h"
#include "base/temp_dir.h"
#include "gym/client/testing/fake_judge.h"
#include "train/testing/pattern_generator.h"
#include "train/testing/tiny_model.h"

namespace tritonsmith::train {
namespace {

namespace fs = std::filesystem;
using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::Le;
using ::testing::SizeIs;

// Kernels that begin with a letter up to d are right, so half of them at first.
Verdict judge_letters(const gym::JudgeJob& job) {
  return job.kernel[0] <= 'd' ? gym::accepted_verdict()
                              : gym::failed_verdict(Stage::compiled, "wrong_value");
}

class RlTest : public ::testing::Test {
 protected:
  void SetUp() override {
    at::set_num_threads(1);
    set_log_level(LogLevel::quiet);
    make_tiny_model(path("model"));
    tokenizer_ = std::make_unique<text::Tokenizer>(
        *text::Tokenizer::from_file(path("model") / "tokenizer.json"));
    config_.run = {.dir = path("run").string(), .seed = 5, .steps = 3};
    config_.model = {.path = path("model").string(), .device = model::DeviceChoice::cpu};
    config_.prompt.style = text::PromptStyle::compact;
    config_.rollout = {.prompts = 2, .samples = 4, .sampling = {.max_new_tokens = 64}};
    config_.optimizer = {.learning_rate = 0.01, .warmup_updates = 0, .weight_decay = 0};
    config_.checkpoint = {.every = 2, .keep_last = 1};
    for (const char* id : {"t1", "t2", "t3"})
      tasks_.push_back({.id = id, .suite = "test", .source = "x", .instruction = id});
  }
  fs::path path(const std::string& name) const { return temp_->path() / name; }
  Result<RlSummary> run() { return run_with(judge_); }
  Result<RlSummary> run_with(gym::Judge& judge) {
    return run_rl(config_, tasks_, {.judge = judge, .make_generator = make_generator()}, stop_);
  }
  MakeGenerator make_generator() const {
    return [this](const model::Transformer& model) -> Result<std::unique_ptr<rollout::Generator>> {
      return std::make_unique<PatternGenerator>(model, *tokenizer_);
    };
  }
  std::vector<StepRecord> steps() const {
    const auto lines = read_lines(path("run") / "steps.jsonl");
    std::vector<StepRecord> records;
    for (const auto& line : *lines) records.push_back(*step_from_json(*parse_json(line)));
    return records;
  }
  std::vector<double> metric(std::string_view name) const {
    std::vector<double> values;
    for (const auto& record : steps()) values.push_back(metric_of(record, name).value_or(-999));
    return values;
  }
  std::vector<Sample> samples() const {
    const auto lines = read_lines(path("run") / "samples.jsonl");
    std::vector<Sample> all;
    for (const auto& line : *lines) all.push_back(*sample_from_json(*parse_json(line)));
    return all;
  }
  Result<TempDir> temp_ = TempDir::make("rl");
  std::unique_ptr<text::Tokenizer> tokenizer_;
  RlConfig config_;
  std::vector<Task> tasks_;
  gym::FakeJudge judge_{judge_letters};
  StopFlag stop_ = false;
};

TEST_F(RlTest, LearnsWhatTheJudgeAccepts) {
  config_.run.steps = 40;
  config_.rollout.samples = 8;
  const auto summary = run();
  ASSERT_TRUE(summary) << summary.error().message;
  EXPECT_TRUE(summary->is_finished);
  const auto accepted = metric("stage/accepted");
  const auto mean = [&](int begin, int end) {
    return std::accumulate(accepted.begin() + begin, accepted.begin() + end, 0.0) / (end - begin);
  };
  EXPECT_LT(mean(0, 5), 0.75);
  EXPECT_GT(mean(30, 40), 0.9);
}

TEST_F(RlTest, RecordsEverySampleWithItsRewardAndAdvantage) {
  ASSERT_TRUE(run());
  const auto all = samples();
  ASSERT_THAT(all, SizeIs(3 * 2 * 4));
  for (std::size_t i = 0; i < all.size(); ++i) {
    EXPECT_EQ(all[i].step, static_cast<std::int64_t>(i / 8) + 1);
    EXPECT_EQ(all[i].group, static_cast<int>(i % 8 / 4));
    EXPECT_EQ(all[i].member, static_cast<int>(i % 4));
    EXPECT_EQ(all[i].verdict.accepted, all[i].kernel[0] <= 'd') << all[i].kernel;
    // Every sample has its format and compiles: these stages pay in the first step only.
    const double early = all[i].step == 1 ? 0.3 : 0.0;
    EXPECT_NEAR(all[i].reward.total, early + (all[i].verdict.accepted ? 1 : 0), 1e-9);
    EXPECT_EQ(all[i].completion.tokens.size(), all[i].completion.logprobs.size());
  }
  for (std::size_t begin = 0; begin < all.size(); begin += 4) {
    double sum = 0;
    for (std::size_t i = 0; i < 4; ++i) sum += all[begin + i].advantage;
    EXPECT_NEAR(sum, 0, 1e-9);
  }
}

TEST_F(RlTest, ReportsWhatSamplerAndTrainerDifferBy) {
  ASSERT_TRUE(run());
  EXPECT_THAT(metric("logprob_difference/max"), Each(Le(1e-5)));
  EXPECT_THAT(metric("logprob_difference/mean"), Each(::testing::Ge(0.0)));
  EXPECT_THAT(metric("clip_fraction"), Each(0.0));
}

TEST_F(RlTest, TakesSeveralUpdatesFromAStepWithinTheClip) {
  config_.algorithm.epochs = 3;
  config_.algorithm.minibatches = 2;
  config_.algorithm.kl_beta = 0.05;
  config_.optimizer.learning_rate = 0.05;
  const auto summary = run();
  ASSERT_TRUE(summary) << summary.error().message;
  EXPECT_THAT(metric("clip_fraction"), ::testing::Contains(::testing::Gt(0.0)));
  EXPECT_THAT(metric("kl"), Each(::testing::Gt(0.0)));
  EXPECT_THAT(metric("logprob_difference/max"), Each(Le(1e-5)));
}

TEST_F(RlTest, NeverRewardsAFaultOfTheGym) {
  gym::FakeJudge broken([](const gym::JudgeJob&) {
    Verdict verdict;
    verdict.fault = Fault::infrastructure;
    return verdict;
  });
  config_.run.steps = 1;
  const std::string before = *read_file(path("model") / "model.safetensors");
  const auto summary = run_with(broken);
  ASSERT_TRUE(summary) << summary.error().message;
  EXPECT_THAT(metric("samples/unscored"), Each(8.0));
  EXPECT_EQ(*read_file(summary->checkpoint / "model.safetensors"), before);
}

TEST_F(RlTest, StopsWhenTheGymHasNothingButFaults) {
  gym::FakeJudge broken([](const gym::JudgeJob&) {
    Verdict verdict;
    verdict.fault = Fault::infrastructure;
    verdict.error = VerdictError{.error_class = "infrastructure", .message = "no zygote"};
    return verdict;
  });
  EXPECT_THAT(run_with(broken).error().message, HasSubstr("the gym is broken: the last 16"));
  EXPECT_THAT(steps(), SizeIs(1)) << "the second step's sixteenth fault ended the run";
  ASSERT_TRUE(run()) << "and goes on when it is back";
}

TEST_F(RlTest, StopsWithOneLineWhenTheGymBreaksDown) {
  gym::FakeJudge broken(judge_letters);
  broken.break_down({"the gym is on fire"});
  EXPECT_THAT(run_with(broken).error().message, HasSubstr("the gym is on fire"));
  ASSERT_TRUE(run()) << "and goes on when it is back";
  EXPECT_THAT(steps(), SizeIs(3));
}

TEST_F(RlTest, SaysWhatIsWrongWithItsInput) {
  const auto wrong = [&](auto change) {
    const RlConfig before = config_;
    change();
    const auto summary = run();
    config_ = before;
    return summary ? std::string() : summary.error().message;
  };
  EXPECT_THAT(wrong([&] { config_.rollout.samples = 1; }), HasSubstr("rollout.samples"));
  EXPECT_THAT(wrong([&] { config_.rollout.sampling.temperature = 0; }), HasSubstr("temperature"));
  EXPECT_THAT(wrong([&] { config_.rollout.sampling.max_new_tokens = 126; }),
              HasSubstr("none of the 3 tasks"));
  EXPECT_THAT(wrong([&] { config_.reward.similarity = 1; }), HasSubstr("tasks.references"));
  tasks_[1].split = TaskSplit::heldout;
  EXPECT_THAT(wrong([] {}), HasSubstr("t2 is held out"));
}

TEST_F(RlTest, GoesOnAfterAnyStepToTheSameWeights) {
  config_.run.steps = 4;
  config_.checkpoint = {.every = 1, .keep_last = 9};
  config_.algorithm.kl_beta = 0.01;
  ASSERT_TRUE(run());
  const auto weights = [&] {
    return *read_file(path("run") / "checkpoints/step-4/model.safetensors");
  };
  const std::string expected = weights();
  const std::string records = *read_file(path("run") / "samples.jsonl");
  fs::remove_all(path("model"));
  for (const int step : {3, 1, 0}) {
    ASSERT_TRUE(
        write_file_atomic(path("run") / "checkpoints/latest", fmt::format("step-{}\n", step)));
    const auto summary = run();
    ASSERT_TRUE(summary) << summary.error().message;
    EXPECT_EQ(weights(), expected) << "from step " << step;
    EXPECT_EQ(*read_file(path("run") / "samples.jsonl"), records);
  }
}

TEST(RlConfig, HasAHelpForEveryField) {
  for (const auto& field : RlConfig::fields()) EXPECT_FALSE(field.help.empty()) << field.name;
}

}  // namespace
}  // namespace tritonsmith::train
