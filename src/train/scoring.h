// Scoring: from a step's verdicts to rewards, advantages and the batch that is trained on. Pure.
#pragma once

#include "algorithm/advantage.h"
#include "data/step.h"
#include "reward/terms.h"
#include "train/policy_gradient.h"
#include "train/references.h"
#include "train/rollout_step.h"

namespace tritonsmith::train {

struct ScoringRules {
  reward::RewardConfig reward;
  reward::StageState stages;
  algorithm::AdvantageOptions advantage;
  int group_size = 8;
};

// Fills reward and advantage of each sample. A sample whose verdict is our own fault has neither:
// its flag is 0, and it must not be trained on.
std::vector<char> score_samples(std::vector<JudgedSample>& samples, const ScoringRules& rules,
                                const References& references);

enum class Truncated { train, mask };
PolicyBatch policy_batch(std::span<const JudgedSample> samples, const std::vector<char>& is_scored,
                         Truncated truncated);

// Rates and means over the samples, for the records.
Metrics sample_metrics(std::span<const JudgedSample> samples, const std::vector<char>& is_scored,
                       int group_size);

}  // namespace tritonsmith::train
