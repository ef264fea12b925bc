// The policy gradient of an optimizer step: from sampled sequences with their advantages to the
// learner's gradients. Everything that divides is computed over the whole step first
// (algorithm/aggregation.h), so micro-batches and their order do not matter.
//
// A sequence is a whole trajectory in one row of tokens; a segment is what the model wrote in one
// turn of it. With one turn they are the same. Whatever the algorithms call a sequence (a ratio, a
// mean over sequences) is a segment.
#pragma once

#include "algorithm/policy_loss.h"
#include "train/difference_histogram.h"
#include "train/learner.h"

namespace tritonsmith::train {

// One float for each trained token of each segment (or sequence).
using TokenColumn = std::vector<std::vector<float>>;

struct PolicyBatch {
  std::vector<TrainingSequence> sequences;  // [S]
  std::vector<std::size_t> sequence_of;     // [G] of each segment, never falling
  std::vector<char> counts;                 // [G] 0: masked, neither trained on nor in any mean
  TokenColumn advantages;                   // [G]
  TokenColumn sampler;                      // [G] what the sampler said
  TokenColumn old;        // [G] the trainer at rollout time; empty: the weights are still those
  TokenColumn reference;  // [G] the frozen reference; empty without KL
  TokenColumn mismatch;   // [G] weights of the policy term; empty: 1

  std::size_t segments() const { return sequence_of.size(); }
  // The segments of a sequence: from first, up to but without end.
  Span segments_of(std::size_t sequence) const;
};

struct PolicyGradientOptions {
  algorithm::PolicyOptions policy;
  double entropy_beta = 0;  // weight of the entropy that is rewarded
  algorithm::Aggregation aggregation = algorithm::Aggregation::token_mean;
  std::int64_t horizon = 512;  // the longest completion (fixed_length, fixed_total)
  std::int64_t updates = 1;    // in which all sequences of the step are gone through once
  double temperature = 1.0;    // of the sampler: log-probabilities are of what was sampled from
  PackingOptions packing;
  std::function<void()> pause = nullptr;  // called once in every micro-batch
};

// Means are over the tokens that went through the model.
struct PolicyGradientReport {
  double loss = 0;       // the clipped objective, weighted as the gradient is
  double surrogate = 0;  // -sum weight * advantage * logprob: moves where `loss` is near 0
  double entropy = 0, kl = 0, clip_fraction = 0;
  double difference_mean = 0, difference_max = 0;  // |logprob of sampler - of trainer at rollout|
  DifferenceHistogram differences;                 // the same
  std::int64_t tokens = 0;                         // that went through the model, prompts included
  std::int64_t shared_tokens = 0;  // of prompts, that others of the same pass went through for
  std::int64_t measured = 0;       // that the means are over
};

// Replaces the learner's gradients with those of these members (sequences). Sequences whose
// coefficients are all 0 (no advantage, no KL, no entropy) count in the normaliser but skip the
// model; one goes through in any case, so that the report has its measurements. A learner of
// several ranks computes the gradient of its share alone, divided as the whole is; sum_over_ranks()
// makes the ranks' reports one.
PolicyGradientReport set_policy_gradient(Learner& learner, const PolicyBatch& batch,
                                         std::span<const std::size_t> members,
                                         const PolicyGradientOptions& options);

Status sum_over_ranks(PolicyGradientReport& report, distributed::Ranks& ranks);

// Log-probabilities of the trained tokens of each sequence under any weights, without gradients.
TokenColumn token_logprobs(const model::Transformer& model,
                           std::span<const TrainingSequence> sequences, double temperature,
                           const PackingOptions& packing,
                           const std::function<void()>& pause = nullptr);
// The same by segment.
TokenColumn segment_logprobs(const model::Transformer& model, const PolicyBatch& batch,
                             double temperature, const PackingOptions& packing,
                             const std::function<void()>& pause = nullptr);
// The same, each rank computing its share: all get all.
struct SegmentPasses {
  const PolicyBatch& batch;
  double temperature = 1.0;
  PackingOptions packing;
  std::function<void()> pause = nullptr;  // called between micro-batches
};
Result<TokenColumn> segment_logprobs_over_ranks(const model::Transformer& model,
                                                const SegmentPasses& passes,
                                                distributed::Ranks& ranks);

}  // namespace tritonsmith::train
