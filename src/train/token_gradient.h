// The gradient of a micro-batch from what a loss says of each of its tokens. Pure but for the
// gradients that it adds to; the thread that trains calls it.
#pragma once

#include <functional>

#include "train/micro_batch.h"

namespace tritonsmith::train {

// What the gradient of a loss is made from, for each of some trained tokens of a micro-batch.
struct TokenGradient {
  at::Tensor logprob;  // [N], d loss / d logprob
  at::Tensor entropy;  // [N], d loss / d entropy; undefined: 0
};
// Trained tokens of a micro-batch, a stretch of them or all, and what the model gives now (without
// gradient history).
struct TokensNow {
  const MicroBatch& batch;
  std::int64_t begin = 0;       // the first one's place among the micro-batch's trained tokens
  at::Tensor logprob, entropy;  // [N]

  std::int64_t count() const { return logprob.numel(); }
};
using Coefficients = std::function<TokenGradient(const TokensNow&)>;
// What a token's coefficients depend on. Where it is the token alone, they are asked for in
// stretches, in order, and the logits are computed once instead of twice (head_gradient.h).
enum class Dependence { token, micro_batch };

// Adds sum(coefficient * d logprob), and likewise of the entropy, over the micro-batch's trained
// tokens to the gradients of the model's weights.
void add_token_gradient(const model::Transformer& model, const MicroBatch& batch,
                        double temperature, Dependence dependence,
                        const Coefficients& coefficients);

}  // namespace tritonsmith::train
