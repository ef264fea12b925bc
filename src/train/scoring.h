// Scoring: from a step's verdicts to rewards, and their numbers for the records. Pure.
#pragma once

#include "algorithm/advantage.h"
#include "data/step.h"
#include "reward/terms.h"
#include "train/references.h"
#include "train/rollout_step.h"

namespace tritonsmith::train {

struct ScoringRules {
  reward::RewardConfig reward;
  reward::StageState stages;
  double overlong_weight = 0;       // of algorithm/overlong.h
  std::int64_t overlong_cache = 0;  // tokens
  std::int64_t max_new_tokens = 0;
};

// Fills the reward of each turn. One whose verdict is our own fault has none: its flag is 0, and it
// must not be trained on.
std::vector<char> score_samples(std::span<JudgedSample> samples, const ScoringRules& rules,
                                const References& references);

// A group (all samples of a prompt) teaches nothing when at every turn its rewards deviate by less
// than this. Indices of the others, as spans of `samples`.
std::vector<Span> groups_of(std::span<const JudgedSample> samples);
bool has_variance(std::span<const JudgedSample> group, std::span<const char> is_scored,
                  double smallest_deviation);

// Rates and means over the samples, for the records.
Metrics sample_metrics(std::span<const JudgedSample> samples, const std::vector<char>& is_scored);

}  // namespace tritonsmith::train
