// Sampling: from a row of logits to a token. Pure: the draw is a hash of (seed, position), so a
// sample depends on its own logits and seed alone.
#pragma once

#include <span>

#include "base/error.h"
#include "data/completion.h"
#include "generate/sampling.h"

namespace tritonsmith::generate::engine {

struct SampledToken {
  TokenId token = 0;
  // log softmax(logits / temperature)[token] before any cut; at temperature 1 for greedy
  float logprob = 0;
};

// Temperature 0 takes the likeliest token, and the lowest id of several. Otherwise top-k cuts
// first. Then top-p keeps the smallest set of likeliest tokens that reaches its share of what top-k
// left. Fails if the logits are not finite, because the weights are then damaged.
Result<SampledToken> sample_token(std::span<const float> logits, const SamplingParams& params,
                                  std::uint64_t seed, std::uint64_t position);

}  // namespace tritonsmith::generate::engine
