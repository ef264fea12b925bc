// The policy gradient of an optimizer step: from sampled sequences with their advantages to the
// learner's gradients. Everything that divides is computed over the whole step first
// (algorithm/aggregation.h), so micro-batches and their order do not matter.
#pragma once

#include "algorithm/aggregation.h"
#include "algorithm/policy_loss.h"
#include "train/learner.h"

namespace tritonsmith::train {

// One float for each trained token of each sequence.
using TokenColumn = std::vector<std::vector<float>>;

struct PolicyBatch {
  std::vector<TrainingSequence> sequences;  // [S]
  std::vector<double> advantages;           // [S]
  std::vector<char> counts;                 // [S] 0: masked, neither trained on nor in any mean
  TokenColumn sampler;                      // what the sampler said
  TokenColumn old;        // the trainer at rollout time; empty: the weights are still those
  TokenColumn reference;  // the frozen reference; empty without KL
};

struct PolicyGradientOptions {
  algorithm::PolicyOptions policy;
  algorithm::Aggregation aggregation = algorithm::Aggregation::token_mean;
  std::int64_t horizon = 512;  // the longest completion (Aggregation::fixed_length)
  double temperature = 1.0;    // of the sampler: log-probabilities are of what was sampled from
  std::int64_t budget = 8192;  // tokens in one pass
};

// Means are over the tokens that went through the model.
struct PolicyGradientReport {
  double loss = 0;       // the clipped objective, weighted as the gradient is
  double surrogate = 0;  // -sum weight * advantage * logprob: moves where `loss` is near 0
  double entropy = 0, kl = 0, clip_fraction = 0;
  double difference_mean = 0, difference_max = 0;  // |logprob of sampler - of trainer at rollout|
  std::int64_t tokens = 0;                         // that went through the model, prompts included
};

// Replaces the learner's gradients with those of these members. Sequences whose coefficients are
// all 0 (no advantage, no KL) count in the normaliser but skip the model; one goes through in any
// case, so that the report has its measurements.
PolicyGradientReport set_policy_gradient(Learner& learner, const PolicyBatch& batch,
                                         std::span<const std::size_t> members,
                                         const PolicyGradientOptions& options);

// Log-probabilities of the trained tokens under any weights, without gradients.
TokenColumn token_logprobs(const model::Transformer& model,
                           std::span<const TrainingSequence> sequences, double temperature,
                           std::int64_t budget);

}  // namespace tritonsmith::train
