// The policy gradient of an optimizer step: computes the learner's gradients from sampled sequences
// and their advantages. All divisors are first computed over the whole step
// (algorithm/aggregation.h), so micro-batches and their order do not matter.
//
// A sequence is a whole trajectory in one row of tokens. A segment is the model's text of one turn.
// With one turn they are the same. A "sequence" of the algorithms (in a ratio, or a mean over
// sequences) is a segment here.
#pragma once

#include "algorithm/policy_loss.h"
#include "train/gradient/difference_histogram.h"
#include "train/gradient/learner.h"

namespace tritonsmith::train {

// One float for each trained token of each segment (or sequence).
using TokenColumn = std::vector<std::vector<float>>;

struct PolicyBatch {
  std::vector<TrainingSequence> sequences;  // [S]
  std::vector<std::size_t> sequence_of;     // [G] of each segment, ascending
  std::vector<char> counts;                 // [G] 0: masked, neither trained on nor part of a mean
  TokenColumn advantages;                   // [G]
  TokenColumn sampler;                      // [G] log-probabilities of the sampler
  // [G] log-probabilities that the ratio compares with: of the trainer at rollout time, or of the
  // sampler; empty: the weights have not changed since
  TokenColumn old;
  // [G] log-probabilities of the trainer at rollout time where `old` has the sampler's; empty: the
  // weights have not changed since, so the pass itself gives them
  TokenColumn trainer;
  TokenColumn reference;  // [G] log-probabilities of the frozen reference; empty without KL
  TokenColumn mismatch;   // [G] weights of the policy term; empty: 1

  std::size_t segments() const { return sequence_of.size(); }
  // The segments of a sequence, as a half-open range.
  Span segments_of(std::size_t sequence) const;
};

struct PolicyGradientOptions {
  algorithm::PolicyOptions policy;
  bool ratio_is_to_sampler = false;  // PolicyBatch::old holds the sampler's log-probabilities
  double entropy_beta = 0;           // weight of the entropy bonus
  algorithm::Aggregation aggregation = algorithm::Aggregation::token_mean;
  std::int64_t horizon = 512;  // the longest completion in tokens (fixed_length, fixed_total)
  std::int64_t updates = 1;    // updates that together use every sequence of the step once
  // of the sampler: log-probabilities are those of the sampled distribution
  double temperature = 1.0;
  PackingOptions packing;
  std::function<void()> pause = nullptr;  // called once in every micro-batch
};

// Means are over the tokens that passed through the model.
struct PolicyGradientReport {
  double loss = 0;  // the clipped objective, weighted like the gradient
  // -sum weight * advantage * logprob: it changes even if `loss` stays near 0
  double surrogate = 0;
  double entropy = 0, kl = 0, clip_fraction = 0;
  // |logprob of sampler - of trainer at rollout time|
  double difference_mean = 0, difference_max = 0;
  DifferenceHistogram differences;  // the distribution of these differences
  std::int64_t tokens = 0;          // tokens that passed through the model, prompts included
  std::int64_t shared_tokens = 0;   // prompt tokens that were computed once for several sequences
  std::int64_t measured = 0;        // number of tokens in the means
};

// Replaces the learner's gradients by those of these members (sequences). A sequence with
// coefficients that are all 0 (no advantage, no KL, no entropy) counts in the normaliser but skips
// the model. At least one sequence passes through it, so that the report has measurements. A
// learner of several ranks computes the gradient of its share only, with the divisors of the whole.
// sum_over_ranks() adds the ranks' reports.
PolicyGradientReport set_policy_gradient(Learner& learner, const PolicyBatch& batch,
                                         std::span<const std::size_t> members,
                                         const PolicyGradientOptions& options);

Status sum_over_ranks(PolicyGradientReport& report, distributed::Ranks& ranks);

// Returns log-probabilities of the trained tokens of each sequence under any weights, without
// gradients.
TokenColumn token_logprobs(const model::Transformer& model,
                           std::span<const TrainingSequence> sequences, double temperature,
                           const PackingOptions& packing,
                           const std::function<void()>& pause = nullptr);
// The same for segments.
TokenColumn segment_logprobs(const model::Transformer& model, const PolicyBatch& batch,
                             double temperature, const PackingOptions& packing,
                             const std::function<void()>& pause = nullptr);
// The same over ranks: each rank computes its share, and all get the whole.
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
