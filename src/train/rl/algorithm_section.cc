#include "train/rl/algorithm_section.h"

namespace tritonsmith::train {
namespace {

using S = AlgorithmSection;

Fields<S> credit_fields() {
  return {field("advantage", &S::advantage,
                "grpo, mean_only, batch_std, rloo, reinforce_baseline or trloo; in many turns each "
                "turn is compared with the same turn of the other samples"),
          field("deviation", &S::deviation, "unbiased divides by n - 1, population by n"),
          field("epsilon", &S::epsilon, "added to the deviation", between(0.0, 1.0)),
          field("singleton", &S::singleton,
                "advantage of what nothing is left to be compared with: zero or own_reward"),
          field("discount", &S::discount, "what a turn's return takes over from the turns after it",
                between(0.0, 1.0)),
          field("credit", &S::credit,
                "uniform, or hierarchical: the plan by speed, the code by the rest of the reward"),
          field("plan_alpha", &S::plan_alpha, "hierarchical: weight of the plan's tokens",
                between(0.0, 100.0))};
}

Fields<S> loss_fields() {
  return {field("loss", &S::loss, "grpo, dr_grpo, dapo, bnpo, gspo or cispo"),
          field("clip_low", &S::clip_low, "the ratio is clipped at 1 - this", between(0.0, 1.0)),
          field("clip_high", &S::clip_high, "and at 1 + this", between(0.0, 1e6)),
          field("dual_clip", &S::dual_clip, "a bad token's ratio is bounded here too; 0: off",
                between(0.0, 1e6)),
          field("aggregation", &S::aggregation,
                "what the losses are divided by; of_loss: as the loss was published"),
          field("horizon", &S::horizon,
                "fixed_length and fixed_total: the length divided by; 0: rollout.max_new_tokens",
                at_least(0)),
          field("kl_beta", &S::kl_beta,
                "weight of the KL to the model the run began with; 0 keeps no copy of it",
                between(0.0, 100.0)),
          field("kl_estimator", &S::kl_estimator, "k1, k2 or k3"),
          field("kl_place", &S::kl_place, "in the loss, or as a penalty in the reward"),
          field("entropy_beta", &S::entropy_beta, "weight of the entropy that the loss rewards",
                between(0.0, 100.0))};
}

Fields<S> filter_fields() {
  return {
      field("mismatch", &S::mismatch,
            "importance weights for what sampler and trainer differ by: off, token_truncate, "
            "token_mask, sequence_truncate or sequence_mask"),
      field("mismatch_cap", &S::mismatch_cap, "the largest weight", between(0.0, 1e6)),
      field("mismatch_floor", &S::mismatch_floor, "masks: a smaller weight is masked",
            between(0.0, 1.0)),
      field("mrs_low", &S::mrs_low, "trajectories whose geometric mean ratio is lower are rejected",
            between(0.0, 1.0)),
      field("mrs_high", &S::mrs_high, "or higher; 0: none are", between(0.0, 1e6)),
      field("mrs_veto", &S::mrs_veto,
            "turns with a token whose ratio is lower are rejected; 0: none are", between(0.0, 1.0)),
      field("prs", &S::prs, "reject accepted kernels of low coverage (lazy ones)"),
      field("prs_begin", &S::prs_begin, "coverage up to which all are rejected", between(0.0, 1.0)),
      field("prs_width", &S::prs_width, "from there on fewer, over this width", between(0.0, 1.0)),
      field("prs_keep_speedup", &S::prs_keep_speedup,
            "kernels so fast are kept in any case; 0: speed saves none", at_least(0.0)),
      field("mask_truncated", &S::mask_truncated,
            "completions cut at max_new_tokens are not trained on"),
      field("overlong_weight", &S::overlong_weight,
            "penalty of completions that come near max_new_tokens", between(0.0, 100.0)),
      field("overlong_cache", &S::overlong_cache, "over how many tokens it rises", at_least(0)),
      field("filter_groups", &S::filter_groups,
            "groups whose rewards hardly differ are not trained on"),
      field("filter_deviation", &S::filter_deviation, "how much they must", between(0.0, 1e6)),
      renamed_from("sampling_lots",
                   field("max_prompt_batches", &S::max_prompt_batches,
                         "dynamic sampling: prompt batches that may be sampled to fill a step with "
                         "groups that differ",
                         between(1, 1000)))};
}

}  // namespace

Fields<AlgorithmSection> AlgorithmSection::fields() {
  Fields<S> all = credit_fields();
  for (const auto& part : {loss_fields(), filter_fields()})
    all.insert(all.end(), part.begin(), part.end());
  all.push_back(field("epochs", &S::epochs, "passes over the samples of a step", between(1, 1000)));
  all.push_back(field("minibatches", &S::minibatches, "updates in each of them", between(1, 1000)));
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
