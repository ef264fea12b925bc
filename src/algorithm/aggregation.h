// Aggregation: what each token's loss is multiplied by before all are summed. The weights are
// computed from all sequences of the whole optimizer step (all micro-batches, all ranks) before its
// first backward pass, so that the update cannot depend on how the step was cut into micro-batches.
//
// With L_i the trained tokens of sequence i (one completion; in many turns each turn is one), N
// sequences with at least one of them, S = sum of L_i, all over the sequences of one update:
//   token_mean         1 / S              BNPO (TRL): each token of the update counts alike
//   step_token_mean    U / S_step         DAPO, arXiv 2503.14476: each token of the whole rollout
//                                         step counts alike; S_step its tokens, U its updates an
//                                         epoch. With one update the same as token_mean
//   sequence_mean      1 / (N * L_i)      GRPO as first published: each sequence counts alike
//   fixed_length       1 / (N * horizon)  Dr. GRPO, arXiv 2503.20783: no preference for short or
//                                         long answers
//   fixed_total        1 / (M * horizon)  Dr. Kernel as released: M all sequences of the update,
//                                         those that were rejected included, so that a step shrinks
//                                         as more is rejected
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/enum_names.h"

namespace tritonsmith::algorithm {

enum class Aggregation { token_mean, step_token_mean, sequence_mean, fixed_length, fixed_total };

struct AggregationScope {
  std::int64_t horizon = 0;      // fixed_length, fixed_total: the longest completion allowed
  std::int64_t step_tokens = 0;  // step_token_mean: S_step
  std::int64_t updates = 1;      // step_token_mean: U
};

// One weight for each sequence of the update, valid for each of its tokens; 0 for sequences without
// trained tokens.
std::vector<double> token_weights(std::span<const std::int64_t> lengths, Aggregation aggregation,
                                  const AggregationScope& scope);

}  // namespace tritonsmith::algorithm

namespace tritonsmith {
template <>
inline constexpr auto enum_names<algorithm::Aggregation> =
    names<algorithm::Aggregation>({{algorithm::Aggregation::token_mean, "token_mean"},
                                   {algorithm::Aggregation::step_token_mean, "step_token_mean"},
                                   {algorithm::Aggregation::sequence_mean, "sequence_mean"},
                                   {algorithm::Aggregation::fixed_length, "fixed_length"},
                                   {algorithm::Aggregation::fixed_total, "fixed_total"}});
}  // namespace tritonsmith
