#include "train/rl/algorithm_section.h"

namespace tritonsmith::train {
namespace {

using S = AlgorithmSection;

Fields<S> credit_fields() {
  return {
      field("advantage", &S::advantage,
            "The rule of advantages: grpo, mean_only, batch_std, rloo, reinforce_baseline or "
            "trloo. In many turns each turn is compared with the same turn of the other samples."),
      field("deviation", &S::deviation,
            "The deviation divides by n - 1 (unbiased) or by n (population)."),
      field("epsilon", &S::epsilon, "The number that is added to the deviation.",
            between(0.0, 1.0)),
      field("singleton", &S::singleton,
            "The advantage of a sample that is alone in its group: zero or own_reward."),
      field("discount", &S::discount,
            "The share of a later turn's return that the turn before it gets.", between(0.0, 1.0)),
      field("credit", &S::credit,
            "How tokens are credited: uniform, or hierarchical, which credits the thinking before "
            "the code by speed, and the code by the rest of the reward."),
      renamed_from("plan_alpha",
                   field("thinking_alpha", &S::thinking_alpha,
                         "With hierarchical credit, the weight of the thinking's tokens.",
                         between(0.0, 100.0)))};
}

Fields<S> loss_fields() {
  return {
      field("loss", &S::loss, "The loss: grpo, dr_grpo, dapo, bnpo, gspo or cispo."),
      field("clip_low", &S::clip_low, "The ratio is clipped below at 1 minus this.",
            between(0.0, 1.0)),
      field("clip_high", &S::clip_high, "The ratio is clipped above at 1 plus this.",
            between(0.0, 1e6)),
      field("dual_clip", &S::dual_clip,
            "The upper bound of the ratio of tokens with a negative advantage. 0: off.",
            between(0.0, 1e6)),
      field("aggregation", &S::aggregation,
            "What the sum of the losses is divided by: token_mean, step_token_mean, sequence_mean, "
            "fixed_length or fixed_total; of_loss takes what was published with the loss."),
      field("horizon", &S::horizon,
            "The length that fixed_length and fixed_total divide by. 0: rollout.max_new_tokens.",
            at_least(0)),
      field("kl_beta", &S::kl_beta,
            "The weight of the KL divergence from the model that the run began with. 0: the run "
            "keeps no copy of that model.",
            between(0.0, 100.0)),
      field("kl_estimator", &S::kl_estimator, "The estimator of the KL: k1, k2 or k3."),
      renamed_from("kl_place",
                   field("kl_term", &S::kl_term,
                         "Where the KL is subtracted: in the loss, or from the reward.")),
      field("entropy_beta", &S::entropy_beta, "The weight of the entropy, which the loss rewards.",
            between(0.0, 100.0))};
}

Fields<S> filter_fields() {
  return {
      field("mismatch", &S::mismatch,
            "Importance weights for the difference between sampler and trainer: off, "
            "token_truncate, token_mask, sequence_truncate or sequence_mask."),
      field("mismatch_cap", &S::mismatch_cap, "The largest importance weight.", between(0.0, 1e6)),
      field("mismatch_floor", &S::mismatch_floor,
            "Masks also leave out importance weights below this.", between(0.0, 1.0)),
      field("mrs_low", &S::mrs_low,
            "Trajectories are rejected if their geometric mean ratio is lower.", between(0.0, 1.0)),
      field("mrs_high", &S::mrs_high,
            "Trajectories are rejected if their geometric mean ratio is higher. 0: mismatch "
            "rejection is off.",
            between(0.0, 1e6)),
      field("mrs_veto", &S::mrs_veto,
            "Turns are rejected if one of their tokens has a lower ratio. 0: off.",
            between(0.0, 1.0)),
      field("prs", &S::prs, "Reject accepted kernels of low coverage (lazy ones)."),
      field("prs_begin", &S::prs_begin, "Accepted kernels are all rejected up to this coverage.",
            between(0.0, 1.0)),
      field("prs_width", &S::prs_width,
            "Over this width of coverage the share of rejected kernels falls to 0.",
            between(0.0, 1.0)),
      field("prs_keep_speedup", &S::prs_keep_speedup,
            "Kernels with this speed-up are never rejected. 0: the speed-up does not matter.",
            at_least(0.0)),
      field("mask_truncated", &S::mask_truncated,
            "Do not train on completions that were cut at max_new_tokens."),
      field("overlong_weight", &S::overlong_weight,
            "The weight of the penalty for completions that come near max_new_tokens.",
            between(0.0, 100.0)),
      field("overlong_cache", &S::overlong_cache, "The penalty rises over this many tokens.",
            at_least(0)),
      field("filter_groups", &S::filter_groups,
            "Do not train on groups whose rewards hardly differ."),
      field("filter_deviation", &S::filter_deviation,
            "The run trains on a group only if its rewards deviate by at least this.",
            between(0.0, 1e6)),
      renamed_from("sampling_lots", field("max_prompt_batches", &S::max_prompt_batches,
                                          "Dynamic sampling: how many prompt batches may be "
                                          "sampled to fill a step with groups that differ.",
                                          between(1, 1000)))};
}

}  // namespace

Fields<AlgorithmSection> AlgorithmSection::fields() {
  Fields<S> all = credit_fields();
  for (const auto& part : {loss_fields(), filter_fields()})
    all.insert(all.end(), part.begin(), part.end());
  all.push_back(field("epochs", &S::epochs, "How many passes over the samples of a step are made.",
                      between(1, 1000)));
  all.push_back(
      field("minibatches", &S::minibatches, "How many updates each pass makes.", between(1, 1000)));
  return all;
}

algorithm::Aggregation AlgorithmSection::resolved_aggregation() const {
  switch (aggregation) {
    case AggregationChoice::of_loss:
      return algorithm::aggregation_of(loss);
    case AggregationChoice::token_mean:
      return algorithm::Aggregation::token_mean;
    case AggregationChoice::step_token_mean:
      return algorithm::Aggregation::step_token_mean;
    case AggregationChoice::sequence_mean:
      return algorithm::Aggregation::sequence_mean;
    case AggregationChoice::fixed_length:
      return algorithm::Aggregation::fixed_length;
    case AggregationChoice::fixed_total:
      break;
  }
  return algorithm::Aggregation::fixed_total;
}

}  // namespace tritonsmith::train
