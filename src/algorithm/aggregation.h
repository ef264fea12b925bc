// Aggregation: the weight of each token's loss in the sum. The weights are computed from all
// sequences of the whole optimizer step (all micro-batches, all ranks) before its first backward
// pass. The update therefore does not depend on how the step is cut into micro-batches.
//
// A sequence is one completion; in many turns each turn is one. Let L_i be the trained tokens of
// sequence i of an update. N is the number of sequences with at least one trained token, and S =
// sum of L_i.
//   token_mean         1 / S              BNPO (TRL): each token of the update counts alike
//   step_token_mean    U / S_step         DAPO, arXiv 2503.14476: each token of the whole rollout
//                                         step counts alike; S_step its tokens, U its updates per
//                                         epoch. With one update the same as token_mean
//   sequence_mean      1 / (N * L_i)      GRPO as first published: each sequence counts alike
//   fixed_length       1 / (N * horizon)  Dr. GRPO, arXiv 2503.20783: no preference for short or
//                                         long answers
//   fixed_total        1 / (M * horizon)  Dr. Kernel as released: M all sequences of the update,
//                                         the rejected ones included, so that a step shrinks as
//                                         more sequences are rejected
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/enum_names.h"

namespace tritonsmith::algorithm {

enum class Aggregation { token_mean, step_token_mean, sequence_mean, fixed_length, fixed_total };

struct AggregationScope {
  std::int64_t horizon = 0;  // fixed_length, fixed_total: the longest completion allowed, in tokens
  std::int64_t step_tokens = 0;  // step_token_mean: S_step
  std::int64_t updates = 1;      // step_token_mean: U
};

// Returns one weight for each sequence of the update. It applies to each of the sequence's tokens,
// and is 0 for a sequence without trained tokens.
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
