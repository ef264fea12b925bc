// Computes the loss of a model on held-out examples, the mean over their completions.
// unigram_entropy gives a bound for comparison.
#pragma once

#include "distributed/ranks.h"
#include "train/batch/micro_batch.h"

namespace tritonsmith::train {

// Returns the entropy of the trained tokens' own frequencies, in nats. A model without context
// cannot have a lower loss on them. Returns 0 without tokens.
double unigram_entropy(std::span<const TrainingSequence> sequences);

// Returns the mean -logprob over the trained tokens, in nats. Each rank computes its share, and all
// get the whole. There must be at least one sequence.
Result<double> heldout_loss(const model::Transformer& model,
                            std::span<const TrainingSequence> sequences,
                            const PackingOptions& packing, distributed::Ranks& ranks);

}  // namespace tritonsmith::train
