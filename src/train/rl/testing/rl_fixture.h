// RlTest: the fixture for tests of run_rl. A tiny model writes completions with two letters, and a
// judge decides by these letters.
#pragma once

#include <ATen/Parallel.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/log.h"
#include "base/temp_dir.h"
#include "gym/api/testing/fake_judge.h"
#include "train/rl/rl.h"
#include "train/rl/testing/pattern_engine.h"
#include "train/run/testing/tiny_model.h"

namespace tritonsmith::train {

namespace fs = std::filesystem;

// Kernels that begin with a letter up to d are right, so half of them at first.
inline Verdict judge_letters(const gym::api::JudgeJob& job) {
  return job.kernel[0] <= 'd' ? gym::api::accepted_verdict()
                              : gym::api::failed_verdict(Stage::compiled, ErrorClass::wrong_value);
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
  Result<RlSummary> run_with(gym::api::Judge& judge) {
    return run_rl(config_, tasks_,
                  {.judge = judge, .make_engine = make_engine(), .gpu_lease = gpu_lease_}, stop_);
  }
  MakeEngine make_engine() const {
    return
        [this](const model::Transformer& model) -> Result<std::unique_ptr<generate::TokenEngine>> {
          return std::make_unique<PatternEngine>(model, *tokenizer_);
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
  gym::api::FakeJudge judge_{judge_letters};
  fs::path gpu_lease_;  // none
  StopFlag stop_ = false;
};

}  // namespace tritonsmith::train
