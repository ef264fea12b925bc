// Aggregation: what each token's loss is multiplied by before all are summed. The weights are
// computed from all sequences of the whole optimizer step (all micro-batches, all ranks) before its
// first backward pass, so that the update cannot depend on how the step was cut into micro-batches.
//
// With L_i the trained tokens of sequence i, N sequences with at least one of them, S = sum of L_i:
//   token_mean     1 / S              DAPO, arXiv 2503.14476: each token counts alike
//   sequence_mean  1 / (N * L_i)      GRPO as first published: each sequence counts alike
//   fixed_length   1 / (N * horizon)  Dr. GRPO, arXiv 2503.20783: no preference for short or long
//   answers
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/enum_names.h"

namespace tritonsmith::algorithm {

enum class Aggregation { token_mean, sequence_mean, fixed_length };

// One weight for each sequence, valid for each of its tokens; 0 for sequences without trained
// tokens. `horizon` is the longest completion allowed (fixed_length only).
std::vector<double> token_weights(std::span<const std::int64_t> lengths, Aggregation aggregation,
                                  std::int64_t horizon);

}  // namespace tritonsmith::algorithm

namespace tritonsmith {
template <>
inline constexpr auto enum_names<algorithm::Aggregation> =
    names<algorithm::Aggregation>({{algorithm::Aggregation::token_mean, "token_mean"},
                                   {algorithm::Aggregation::sequence_mean, "sequence_mean"},
                                   {algorithm::Aggregation::fixed_length, "fixed_length"}});
}  // namespace tritonsmith
