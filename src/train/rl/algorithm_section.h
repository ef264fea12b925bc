// AlgorithmSection: the [algorithm] table of a reinforcement learning config. It chooses among
// published rules. docs/algorithms.md has every formula. check_algorithm.h refuses combinations
// that have no meaning, and says why.
#pragma once

#include "algorithm/policy_loss.h"
#include "train/credit/credit.h"

namespace tritonsmith::train {

// How the losses of one update become one number (algorithm/aggregation.h). of_loss: as the chosen
// loss was published.
enum class AggregationChoice {
  of_loss,
  token_mean,
  step_token_mean,
  sequence_mean,
  fixed_length,
  fixed_total
};

struct AlgorithmSection {
  algorithm::AdvantageRule advantage = algorithm::AdvantageRule::grpo;
  algorithm::Deviation deviation = algorithm::Deviation::unbiased;
  double epsilon = 1e-4;
  algorithm::Singleton singleton = algorithm::Singleton::zero;
  double discount = 1.0;
  CreditKind credit = CreditKind::uniform;
  double thinking_alpha = 0.1;

  algorithm::Loss loss = algorithm::Loss::dapo;
  double clip_low = 0.2;
  double clip_high = 0.28;
  double dual_clip = 0.0;
  AggregationChoice aggregation = AggregationChoice::of_loss;
  int horizon = 0;
  double kl_beta = 0.0;
  algorithm::KlEstimator kl_estimator = algorithm::KlEstimator::k3;
  algorithm::KlTerm kl_term = algorithm::KlTerm::loss;
  double entropy_beta = 0.0;

  algorithm::MismatchRule mismatch = algorithm::MismatchRule::off;
  double mismatch_cap = 3.0;
  double mismatch_floor = 0.0;
  double mrs_low = 0.0;
  double mrs_high = 0.0;
  double mrs_veto = 0.0;

  bool prs = false;
  double prs_begin = 0.3;
  double prs_width = 0.1;
  double prs_keep_speedup = 0.0;

  bool mask_truncated = false;
  double overlong_weight = 0.0;
  int overlong_cache = 0;
  bool filter_groups = false;
  double filter_deviation = 1e-3;
  int max_prompt_batches = 1;

  int epochs = 1;
  int minibatches = 1;
  static Fields<AlgorithmSection> fields();

  algorithm::Aggregation resolved_aggregation() const;
};

}  // namespace tritonsmith::train

namespace tritonsmith {
template <>
inline constexpr auto enum_names<train::AggregationChoice> =
    names<train::AggregationChoice>({{train::AggregationChoice::of_loss, "of_loss"},
                                     {train::AggregationChoice::token_mean, "token_mean"},
                                     {train::AggregationChoice::step_token_mean, "step_token_mean"},
                                     {train::AggregationChoice::sequence_mean, "sequence_mean"},
                                     {train::AggregationChoice::fixed_length, "fixed_length"},
                                     {train::AggregationChoice::fixed_total, "fixed_total"}});
}  // namespace tritonsmith
