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
  float logprob = 0;  // log softmax(logits / temperature)[token], uncut; temperature 1 when greedy
};

// Temperature 0 takes the likeliest token, the lower id among equals. Otherwise top-k cuts first,
// then top-p keeps the smallest set of the likeliest of those that reaches its share of what top-k
// left. Fails when the logits are not finite numbers: then the weights are damaged.
Result<SampledToken> sample_token(std::span<const float> logits, const SamplingParams& params,
                                  std::uint64_t seed, std::uint64_t position);

}  // namespace tritonsmith::generate::engine
