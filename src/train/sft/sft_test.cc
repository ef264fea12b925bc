#include "train/sft/sft.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "base/file.h"
#include "base/log.h"
#include "base/temp_dir.h"
#include "data/step.h"
#include "model/lora/lora.h"
#include "train/run/testing/tiny_model.h"

namespace tritonsmith::train {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

class SftTest : public ::testing::Test {
 protected:
  void SetUp() override {
    at::set_num_threads(1);
    set_log_level(LogLevel::quiet);
    make_tiny_model(path("model"));
    config_.run = {.dir = path("run").string(), .seed = 5, .steps = 12};
    config_.model = {.path = path("model").string(), .device = model::DeviceChoice::cpu};
    config_.data = {.step_tokens = 120, .max_tokens = 100};
    config_.optimizer = {.learning_rate = 0.02, .warmup_updates = 2, .micro_batch_tokens = 64};
    config_.checkpoint = {.every = 4, .keep_last = 2};
    for (const char* name : {"one", "two", "three", "four", "five"})
      examples_.push_back({.task_id = name,
                           .prompt = {{.role = text::Role::user, .content = name}},
                           .completion = std::string("it is ") + name});
  }
  fs::path path(const std::string& name) const { return temp_->path() / name; }
  Result<SftSummary> run(const fs::path& directory) {
    SftConfig config = config_;
    config.run.dir = directory.string();
    return run_sft(config, {.examples = examples_, .heldout = heldout_}, stop_);
  }
  static std::string weights(const fs::path& run, int step) {
    return *read_file(run / fmt::format("checkpoints/step-{}/model.safetensors", step));
  }
  Result<TempDir> temp_ = TempDir::make("sft");
  SftConfig config_;
  std::vector<SftExample> examples_, heldout_;
  StopFlag stop_ = false;
};

std::vector<StepRecord> steps_of(const fs::path& run) {
  std::vector<StepRecord> records;
  const auto lines = read_lines(run / "steps.jsonl");
  for (const std::string& line : *lines) records.push_back(*step_from_json(*parse_json(line)));
  return records;
}

TEST_F(SftTest, LearnsTheExamplesAndRecordsEachStep) {
  config_.run.steps = 150;
  const auto summary = run(path("run"));
  ASSERT_TRUE(summary) << summary.error().message;
  EXPECT_TRUE(summary->is_finished);
  const auto steps = steps_of(path("run"));
  ASSERT_EQ(steps.size(), 150U);
  EXPECT_GT(*metric_of(steps.front(), "loss"), 4.5);
  EXPECT_LT(*metric_of(steps.back(), "loss"), 1.0);
  for (std::size_t i = 0; i < steps.size(); ++i)
    EXPECT_EQ(steps[i].step, static_cast<std::int64_t>(i) + 1);
  EXPECT_TRUE(model::load_model(summary->checkpoint));
  EXPECT_TRUE(text::Tokenizer::from_file(summary->checkpoint / "tokenizer.json"));
  EXPECT_FALSE(fs::exists(path("run") / "checkpoints/step-4"));
}

TEST_F(SftTest, StopsWithACheckpointAndGoesOnToTheSameWeights) {
  const auto straight = run(path("straight"));
  ASSERT_TRUE(straight) << straight.error().message;
  stop_ = true;  // set before the first step, so nothing happens
  ASSERT_TRUE(run(path("run")));
  stop_ = false;
  config_.run.dir = path("run").string();
  fs::remove_all(path("model"));  // the run needs only its own directory
  const auto resumed = run(path("run"));
  ASSERT_TRUE(resumed) << resumed.error().message;
  EXPECT_EQ(weights(path("run"), 12), weights(path("straight"), 12));
}

TEST_F(SftTest, GoesOnFromACheckpointOfThePreviousVersion) {
  ASSERT_TRUE(run(path("straight")));
  ASSERT_TRUE(run(path("run")));
  ASSERT_TRUE(write_file_atomic(path("run") / "checkpoints/latest", "step-8\n"));
  const fs::path file = path("run") / "checkpoints/step-8/trainer.json";
  std::string text = *read_file(file);
  const std::size_t at = text.find("\"position\"");
  ASSERT_NE(at, std::string::npos) << text;
  ASSERT_TRUE(write_file_atomic(file, text.replace(at, 10, "\"place\"")));
  ASSERT_TRUE(run(path("run")));
  EXPECT_EQ(weights(path("run"), 12), weights(path("straight"), 12));
}

TEST_F(SftTest, BeginsWithTheModelOfTheConfigThatReplacesThatOfAnUnbegunRun) {
  ASSERT_TRUE(run(path("straight")));
  make_tiny_model(path("other"), 4);
  config_.model.path = path("other").string();
  stop_ = true;
  ASSERT_TRUE(run(path("run")));
  stop_ = false;
  config_.model.path = path("model").string();
  ASSERT_TRUE(run(path("run")));
  EXPECT_EQ(weights(path("run"), 12), weights(path("straight"), 12));
}

TEST_F(SftTest, TrainsAnAdapterAndGoesOnWithItToTheSameWeights) {
  config_.lora = {.rank = 2, .alpha = 8, .targets = {"q_proj", "up_proj"}};
  ASSERT_TRUE(run(path("straight")));
  ASSERT_TRUE(run(path("run")));
  ASSERT_TRUE(write_file_atomic(path("run") / "checkpoints/latest", "step-8\n"));
  const auto resumed = run(path("run"));
  ASSERT_TRUE(resumed) << resumed.error().message;
  EXPECT_EQ(weights(path("run"), 12), weights(path("straight"), 12));
  const auto before = model::load_model(path("model")),
             after = model::load_model(resumed->checkpoint);
  for (std::size_t i = 0; i < before->parameters().size(); ++i) {
    const std::string& name = before->parameters()[i].name;
    const bool is_target = name.ends_with("q_proj.weight") || name.ends_with("up_proj.weight");
    EXPECT_NE(at::equal(before->parameters()[i].tensor, after->parameters()[i].tensor), is_target)
        << name;
  }
  // The first model with the adapter equals the merged model, as PEFT would load it.
  ASSERT_TRUE(model::LoraAdapter::load(*before, resumed->checkpoint / "adapter"));
  for (std::size_t i = 0; i < before->parameters().size(); ++i)
    EXPECT_TRUE(at::allclose(before->parameters()[i].tensor, after->parameters()[i].tensor));
}

TEST_F(SftTest, TriesWhatIsHeldOutBeforeAndAfter) {
  config_.run.steps = 60;
  config_.data.heldout_every = 20;
  for (const char* name : {"six", "seven"})
    heldout_.push_back({.task_id = name,
                        .prompt = {{.role = text::Role::user, .content = name}},
                        .completion = std::string("it is ") + name});
  ASSERT_TRUE(run(path("run")));
  const auto steps = steps_of(path("run"));
  std::vector<std::int64_t> tried;
  for (const StepRecord& step : steps)
    if (metric_of(step, "heldout/loss")) tried.push_back(step.step);
  EXPECT_THAT(tried, ::testing::ElementsAre(20, 40, 60));
  EXPECT_GT(*metric_of(steps.front(), "heldout/loss_at_start"), 4.5);
  EXPECT_LT(*metric_of(steps.back(), "heldout/loss"),
            *metric_of(steps.front(), "heldout/loss_at_start") - 1);
  EXPECT_EQ(*read_file(path("run") / "heldout.jsonl"), sft_examples_to_jsonl(heldout_));
  // The trainer evaluates the held-out examples but does not learn from them.
  heldout_.clear();
  config_.data.heldout_every = 0;
  ASSERT_TRUE(run(path("without")));
  EXPECT_EQ(weights(path("run"), 60), weights(path("without"), 60));
}

TEST_F(SftTest, WithoutCheckpointsLeavesItsRecordsAndBeginsAnew) {
  config_.checkpoint.every = 0;
  const auto summary = run(path("run"));
  ASSERT_TRUE(summary) << summary.error().message;
  EXPECT_TRUE(summary->checkpoint.empty());
  EXPECT_TRUE(fs::is_empty(path("run") / "checkpoints"));
  const auto steps = steps_of(path("run"));
  ASSERT_EQ(steps.size(), 12U);
  ASSERT_TRUE(run(path("run")));
  const auto again = steps_of(path("run"));
  ASSERT_EQ(again.size(), 12U);
  EXPECT_EQ(*metric_of(again.back(), "loss"), *metric_of(steps.back(), "loss"));
}

TEST_F(SftTest, RefusesAModelWhoseChatTemplateIsNotOurs) {
  std::ofstream(path("model") / "chat_template.jinja") << "{{ messages[0].content }}";
  EXPECT_THAT(run(path("run")).error().message, HasSubstr("is not the one we render"));
  config_.model.check_chat = false;
  fs::remove_all(path("run"));
  EXPECT_TRUE(run(path("run")));
}

TEST_F(SftTest, PreviewsWithoutWriting) {
  config_.run.dir = path("run").string();
  const auto preview = preview_sft(config_, {.examples = examples_});
  ASSERT_TRUE(preview) << preview.error().message;
  EXPECT_EQ(preview->run.step, std::nullopt);
  EXPECT_EQ(preview->sequences, 5U);
  EXPECT_FALSE(fs::exists(path("run")));
  ASSERT_TRUE(run(path("run")));
  EXPECT_EQ(preview_sft(config_, {.examples = examples_})->run.step, 12);
  const fs::path optimizer = path("run") / "checkpoints/step-12/optimizer.safetensors";
  fs::resize_file(optimizer, fs::file_size(optimizer) - 1);
  EXPECT_THAT(preview_sft(config_, {.examples = examples_}).error().message,
              HasSubstr("optimizer.safetensors: tensor"));
}

TEST_F(SftTest, LeavesAFinishedRunAsItIs) {
  ASSERT_TRUE(run(path("run")));
  const std::string before = *read_file(path("run") / "steps.jsonl");
  const auto again = run(path("run"));
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_TRUE(again->is_finished);
  EXPECT_EQ(*read_file(path("run") / "steps.jsonl"), before);
  EXPECT_GT(again->loss, 0);
}

TEST_F(SftTest, ReportsTheSameLossWhenAFinishedRunIsCalledAgain) {
  const auto first = run(path("run"));
  ASSERT_TRUE(first) << first.error().message;
  EXPECT_DOUBLE_EQ(run(path("run"))->loss, first->loss);
}

TEST_F(SftTest, GoesOnWhereMoreStepsAreAskedOfAFinishedRun) {
  ASSERT_TRUE(run(path("run")));
  config_.run.steps = 15;
  const auto more = run(path("run"));
  ASSERT_TRUE(more) << more.error().message;
  EXPECT_EQ(more->steps, 15);
  EXPECT_EQ(steps_of(path("run")).size(), 15U);
}

TEST_F(SftTest, NeedsOnlyItsDirectoryToGoOn) {
  ASSERT_TRUE(run(path("run")));
  fs::remove_all(path("model"));
  ASSERT_TRUE(write_file_atomic(path("run") / "checkpoints/latest", "step-8\n"));
  const std::string expected = weights(path("run"), 12);
  const auto resumed = run(path("run"));
  ASSERT_TRUE(resumed) << resumed.error().message;
  EXPECT_EQ(weights(path("run"), 12), expected);
  EXPECT_EQ(steps_of(path("run")).size(), 12U);
}

TEST_F(SftTest, SaysWhatIsWrongWithItsInput) {
  config_.data.max_tokens = 20;
  EXPECT_THAT(run(path("run")).error().message, HasSubstr("none of the 5 examples fits"));
  config_.data.max_tokens = 1000;
  EXPECT_THAT(run(path("run")).error().message, HasSubstr("128 positions"));
  config_.data.max_tokens = 100;
  config_.model.path = path("missing").string();
  EXPECT_THAT(run(path("run")).error().message, HasSubstr(path("missing").string()));
  config_.model.path = "";
  EXPECT_THAT(run(path("run")).error().message, HasSubstr("model.path is not set"));
}

TEST_F(SftTest, SaysInEachCheckpointHowTheExamplesWereAsked) {
  const text::PromptRecord asked{.prompt = {.style = text::PromptStyle::compact}};
  for (SftExample& example : examples_) example.asked = asked;
  const auto summary = run(path("run"));
  ASSERT_TRUE(summary) << summary.error().message;
  EXPECT_EQ(*text::read_prompt_record(summary->checkpoint), asked);
  // The initial model's record also holds the length of a completion.
  const text::PromptRecord known{.prompt = asked.prompt, .max_new_tokens = 320};
  ASSERT_TRUE(write_file_atomic(path("model") / text::kPromptRecordFile, to_text(known)));
  EXPECT_EQ(*text::read_prompt_record(run(path("second"))->checkpoint), known);
  // The prompts in the initial model's record have another form than these examples.
  for (SftExample& example : examples_) example.asked->prompt.system = "Write a kernel.";
  EXPECT_EQ(*text::read_prompt_record(run(path("third"))->checkpoint), examples_[0].asked);
}

TEST_F(SftTest, HandsOnThePromptOfItsModelWhereExamplesDoNotAgree) {
  const text::PromptRecord known{.max_new_tokens = 320};
  ASSERT_TRUE(write_file_atomic(path("model") / text::kPromptRecordFile, to_text(known)));
  examples_[0].asked = text::PromptRecord{.prompt = {.style = text::PromptStyle::compact}};
  examples_[1].asked = text::PromptRecord{.prompt = {.style = text::PromptStyle::full}};
  EXPECT_EQ(*text::read_prompt_record(run(path("run"))->checkpoint), known);
}

TEST_F(SftTest, WantsTheSameExamplesWhenItGoesOn) {
  ASSERT_TRUE(run(path("run")));
  examples_.pop_back();
  EXPECT_THAT(run(path("run")).error().message, HasSubstr("examples.jsonl holds other data"));
}

TEST(SftExamples, AreReadFromJsonlWithTheLineOfAMistake) {
  const auto temp = TempDir::make("examples");
  const fs::path file = temp->path() / "examples.jsonl";
  std::ofstream(file) << R"({"task": "a", "prompt": "p", "completion": "c"})"
                      << "\n"
                      << R"({"prompt": [{"role": "system", "content": "s"}], "completion": "d"})";
  const auto examples = read_sft_examples(file);
  ASSERT_TRUE(examples) << examples.error().message;
  ASSERT_EQ(examples->size(), 2U);
  EXPECT_EQ((*examples)[0].prompt, (std::vector<text::Message>{{text::Role::user, "p"}}));
  EXPECT_EQ((*examples)[1].prompt[0].role, text::Role::system);
  EXPECT_FALSE((*examples)[0].asked);
  const text::PromptRecord asked{.prompt = {.style = text::PromptStyle::compact}};
  std::ofstream(file) << sft_examples_to_jsonl(std::vector<SftExample>{
      {.prompt = (*examples)[0].prompt, .completion = "c", .asked = asked}});
  EXPECT_EQ((*read_sft_examples(file))[0].asked, asked);
  std::ofstream(file) << R"({"prompt": "p", "completion": "c"})"
                      << "\n"
                      << R"({"prompt": "p"})";
  EXPECT_THAT(read_sft_examples(file).error().message, HasSubstr("examples.jsonl:2: "));
}

TEST(SftConfig, HasAHelpForEveryField) {
  for (const auto& field : SftConfig::fields()) EXPECT_FALSE(field.help.empty()) << field.name;
}

}  // namespace
}  // namespace tritonsmith::train
