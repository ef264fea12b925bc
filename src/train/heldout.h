// What a model makes of examples that it is not trained on: the mean loss over their completions,
// and what no model can beat that knows how often each token comes and nothing else.
#pragma once

#include "distributed/ranks.h"
#include "train/micro_batch.h"

namespace tritonsmith::train {

// The entropy of the trained tokens' own frequencies, in nats: the least that a model without
// context could reach on them. 0 where there are none.
double unigram_entropy(std::span<const TrainingSequence> sequences);

// Mean -logprob over the trained tokens, in nats; each rank computes its share, all get the whole.
// There must be a sequence.
Result<double> heldout_loss(const model::Transformer& model,
                            std::span<const TrainingSequence> sequences,
                            const PackingOptions& packing, distributed::Ranks& ranks);

}  // namespace tritonsmith::train
