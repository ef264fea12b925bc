// RlConfig: all settings of a reinforcement learning run. Each section is a table of the TOML file.
// docs/training.md explains how they work together, docs/algorithms.md the algorithms.
#pragma once

#include "data/verdict.h"
#include "generate/engine/engine.h"
#include "model/lora/lora.h"
#include "reward/config.h"
#include "reward/url/url_config.h"
#include "text/prompt.h"
#include "train/config/foreign_names.h"
#include "train/config/sections.h"
#include "train/rl/algorithm_section.h"
#include "train/rl/teacher.h"
#include "train/run/checkpoint_store.h"
#include "train/run/trace.h"

namespace tritonsmith::train {

struct TasksSection {
  std::string path;
  std::string references;
  static Fields<TasksSection> fields();
};

struct RolloutSection {
  int prompts = 8;
  int samples = 8;
  int staleness = 0;                  // the sampling weights may lag this number of updates
  bool learn_early = false;           // learns from complete groups while others are still judged
  generate::SamplingParams sampling;  // in the TOML file, its fields are fields of this section
  static Fields<RolloutSection> fields();
};

struct JudgeSection {
  Policy policy = Policy::strict;
  Backend backend = Backend::automatic;
  int trials = 3;
  int patience_seconds = 600;
  std::string url, token_file;  // of a `gym serve`; empty: this program judges
  std::string device;  // with `url`: the class of devices that judge; see RemoteJudgeConfig
  // The numbers of the GPUs that run kernels, if this program judges. Empty: if there are several
  // GPUs, it takes one that does not train.
  std::vector<std::int64_t> gpus;
  bool lease = true;  // training on the same GPU pauses while kernels are timed
  static Fields<JudgeSection> fields();
};

struct RlConfig {
  RunSection run;
  // With these settings trainer and engine compute the same bits, so bfloat16 costs no accuracy
  // (docs/gpu.md). No model exceeds its range.
  ModelSection model = {.precision = model::Precision::bfloat16, .sums = model::Sums::equal};
  model::LoraConfig lora;
  TasksSection tasks;
  text::PromptConfig prompt;
  episode::TurnsConfig turns;
  RolloutSection rollout;
  reward::RewardConfig reward;
  reward::UrlRewardConfig url_reward;  // in the TOML file, its fields are in the section "reward"
  generate::engine::EngineConfig engine;
  AlgorithmSection algorithm;
  TeacherSection teacher;
  OptimizerSection optimizer;
  JudgeSection judge;
  CheckpointConfig checkpoint;
  TraceSection trace;
  static Fields<RlConfig> fields();
  // Says what a name of TRL or verl is called here.
  static std::string hint(std::string_view wanted, const std::vector<std::string>& known) {
    return foreign_name_hint(wanted, known);
  }

  std::int64_t samples_per_step() const {
    return static_cast<std::int64_t>(rollout.prompts) * rollout.samples;
  }
  std::int64_t updates_per_step() const {
    return static_cast<std::int64_t>(algorithm.epochs) * algorithm.minibatches;
  }
  // Tells whether the assignment of credit needs the trainer's own log-probabilities.
  bool needs_old_logprobs() const;
  // Tells whether the denominator of a token's ratio is the sampler's probability. Otherwise it is
  // the trainer's, from before the first update on these samples.
  bool ratio_is_to_sampler() const;
  PolicyGradientOptions gradient_options(c10::Device device) const;
  CreditRules credit_rules() const;
  algorithm::MismatchOptions mismatch_options() const;
  episode::EpisodeOptions episode_options() const;
};

// Refuses contradictory settings and missing ones.
Status check(const RlConfig& config, ModelLocation location = ModelLocation::here);

}  // namespace tritonsmith::train
