// MicroBatch: some sequences of an optimizer step, packed for one forward and backward pass, with
// the rows whose next token is trained.
#pragma once

#include <ATen/core/Tensor.h>

#include <span>
#include <vector>

#include "model/layers/linear_logprob.h"
#include "model/transformer/transformer.h"
#include "train/batch/packing.h"

namespace tritonsmith::train {

struct MicroBatch {
  model::PackedBatch packed;
  at::Tensor rows;     // [N] int64: rows of the packed input whose next token is trained
  at::Tensor targets;  // [N] int64: these next tokens
  std::vector<std::size_t> members;  // indices of the sequences, in the order of their tokens
  // tokens that are computed once for several sequences, and not again for this one
  std::int64_t shared = 0;
};

// Cuts the sequences listed in `members` into micro-batches, in order.
std::vector<MicroBatch> make_micro_batches(std::span<const TrainingSequence> sequences,
                                           std::span<const std::size_t> members,
                                           const PackingOptions& options, c10::Device device);

// Returns the hidden states that predict the trained tokens, [N, H].
at::Tensor predicting_states(const model::Transformer& model, const MicroBatch& batch);

// Returns log-probability and entropy of each trained token, [N], at the given temperature.
model::LogprobAndEntropy forward_tokens(const model::Transformer& model, const MicroBatch& batch,
                                        double temperature);

}  // namespace tritonsmith::train
