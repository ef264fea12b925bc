// RlConfig: everything a reinforcement learning run is told. Each section is a table in the TOML
// file; docs/training.md explains how they work together, docs/algorithms.md the algorithms.
#pragma once

#include "data/verdict.h"
#include "generate/engine/engine.h"
#include "model/lora.h"
#include "reward/config.h"
#include "text/prompt.h"
#include "train/algorithm_section.h"
#include "train/checkpoint_store.h"
#include "train/sections.h"
#include "train/trace.h"

namespace tritonsmith::train {

struct TasksSection {
  std::string path;
  std::string references;
  static Fields<TasksSection> fields();
};

struct RolloutSection {
  int prompts = 8;
  int samples = 8;
  int staleness = 0;                  // updates that the weights which sample may be behind
  bool learn_early = false;           // complete groups are learnt from while others are judged
  generate::SamplingParams sampling;  // its fields stand in this section themselves
  static Fields<RolloutSection> fields();
};

struct JudgeSection {
  Policy policy = Policy::strict;
  Backend backend = Backend::automatic;
  int trials = 3;
  int patience_seconds = 600;
  std::string url, token_file;  // of a `gym serve`; empty: this program judges
  // Where this program judges: the GPUs that kernels run on, by number; empty: one that is not
  // trained on, where there are several.
  std::vector<std::int64_t> gpus;
  bool lease = true;  // kernels are timed while training on the same GPU pauses
  static Fields<JudgeSection> fields();
};

struct RlConfig {
  RunSection run;
  // Trainer and engine then have the same bits, so that bfloat16, whose range no model leaves,
  // costs nothing (docs/gpu.md).
  ModelSection model = {.precision = model::Precision::bfloat16, .sums = model::Sums::equal};
  model::LoraConfig lora;
  TasksSection tasks;
  text::PromptConfig prompt;
  episode::TurnsConfig turns;
  RolloutSection rollout;
  reward::RewardConfig reward;
  generate::engine::EngineConfig engine;
  AlgorithmSection algorithm;
  OptimizerSection optimizer;
  JudgeSection judge;
  CheckpointConfig checkpoint;
  TraceSection trace;
  static Fields<RlConfig> fields();

  std::int64_t samples_per_step() const {
    return static_cast<std::int64_t>(rollout.prompts) * rollout.samples;
  }
  std::int64_t updates_per_step() const {
    return static_cast<std::int64_t>(algorithm.epochs) * algorithm.minibatches;
  }
  // Whether the trainer's own log-probabilities must be known before anything is credited.
  bool needs_old_logprobs() const;
  // Whether a token's ratio compares with what the sampler said, not with the trainer at rollout
  // time: weights that sample may be older than those at rollout time.
  bool ratio_is_to_sampler() const;
  PolicyGradientOptions gradient_options(c10::Device device) const;
  CreditRules credit_rules() const;
  algorithm::MismatchOptions mismatch_options() const;
  episode::EpisodeOptions episode_options() const;
};

// Settings that contradict each other, and what must be set.
Status check(const RlConfig& config);

}  // namespace tritonsmith::train
