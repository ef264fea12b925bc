// Scoring: computes rewards from a step's verdicts, and their numbers for the records. The
// functions are pure.
#pragma once

#include "algorithm/advantage.h"
#include "data/step.h"
#include "reward/terms.h"
#include "reward/url/url_reward.h"
#include "train/experience/references.h"
#include "train/experience/rollout_step.h"

namespace tritonsmith::train {

struct ScoringRules {
  reward::RewardConfig reward;
  reward::StageState stages;
  double overlong_weight = 0;       // weight of algorithm/overlong.h
  std::int64_t overlong_cache = 0;  // tokens
  std::int64_t max_new_tokens = 0;
};

// Adds the term that reward.url gives each turn, before the others. A turn whose verdict has an
// infrastructure fault gets none. Fails by a fault if the server gives no numbers.
Status add_url_terms(std::span<JudgedSample> samples, const reward::UrlReward& url, double weight);

// Fills the reward of each turn, and keeps the term of reward.url. A turn whose verdict has an
// infrastructure fault gets no reward: its flag is 0, and it must not be trained on.
std::vector<char> score_samples(std::span<JudgedSample> samples, const ScoringRules& rules,
                                const References& references);

// groups_of returns the groups (all samples of a prompt) as ranges of `samples`. has_variance is
// false if at every turn the rewards of a group deviate by less than `smallest_deviation`. Such a
// group teaches nothing.
std::vector<Span> groups_of(std::span<const JudgedSample> samples);
bool has_variance(std::span<const JudgedSample> group, std::span<const char> is_scored,
                  double smallest_deviation);

// Returns rates and means over the samples, for the records.
Metrics sample_metrics(std::span<const JudgedSample> samples, const std::vector<char>& is_scored);

}  // namespace tritonsmith::train
