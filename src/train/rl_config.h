// RlConfig: everything a reinforcement learning run is told. Each section is a table in the TOML
// file; docs/training.md explains how they work together.
#pragma once

#include "algorithm/advantage.h"
#include "data/verdict.h"
#include "reward/config.h"
#include "rollout/generator.h"
#include "text/prompt.h"
#include "train/checkpoint_store.h"
#include "train/policy_gradient.h"
#include "train/sections.h"

namespace tritonsmith::train {

struct TasksSection {
  std::string path;
  std::string references;
  static Fields<TasksSection> fields();
};

struct RolloutSection {
  int prompts = 8;
  int samples = 8;
  rollout::SamplingParams sampling;  // its fields stand in this section themselves
  static Fields<RolloutSection> fields();
};

struct AlgorithmSection {
  algorithm::AdvantageRule advantage = algorithm::AdvantageRule::grpo;
  algorithm::Deviation deviation = algorithm::Deviation::unbiased;
  double epsilon = 1e-4;
  double clip_low = 0.2;
  double clip_high = 0.28;
  double kl_beta = 0.0;
  double mismatch_cap = 0.0;
  algorithm::Aggregation aggregation = algorithm::Aggregation::token_mean;
  bool mask_truncated = false;
  int epochs = 1;
  int minibatches = 1;
  static Fields<AlgorithmSection> fields();
};

struct JudgeSection {
  Policy policy = Policy::strict;
  Backend backend = Backend::automatic;
  int trials = 3;
  int patience_seconds = 600;
  static Fields<JudgeSection> fields();
};

struct RlConfig {
  RunSection run;
  ModelSection model;
  TasksSection tasks;
  text::PromptConfig prompt;
  RolloutSection rollout;
  reward::RewardConfig reward;
  AlgorithmSection algorithm;
  OptimizerSection optimizer;
  JudgeSection judge;
  CheckpointConfig checkpoint;
  static Fields<RlConfig> fields();

  std::int64_t samples_per_step() const {
    return static_cast<std::int64_t>(rollout.prompts) * rollout.samples;
  }
  std::int64_t updates_per_step() const {
    return static_cast<std::int64_t>(algorithm.epochs) * algorithm.minibatches;
  }
  algorithm::AdvantageOptions advantage_options() const {
    return {.rule = algorithm.advantage,
            .deviation = algorithm.deviation,
            .epsilon = algorithm.epsilon};
  }
  PolicyGradientOptions gradient_options() const;
};

// Settings that contradict each other, and what must be set.
Status check(const RlConfig& config);

}  // namespace tritonsmith::train
