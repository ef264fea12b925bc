// Computes the gradient of a micro-batch from the derivatives of a loss for each token. The
// functions are pure, except that they add to gradients. The training thread calls them.
#pragma once

#include <functional>

#include "train/batch/micro_batch.h"

namespace tritonsmith::train {

// The derivatives of a loss for some trained tokens of a micro-batch.
struct TokenGradient {
  at::Tensor logprob;  // [N], d loss / d logprob
  at::Tensor entropy;  // [N], d loss / d entropy; undefined: 0
};
// All trained tokens of a micro-batch, or a range of them, with the model's current values (without
// gradient history).
struct TokensNow {
  const MicroBatch& batch;
  std::int64_t begin = 0;       // index of the first token among the micro-batch's trained tokens
  at::Tensor logprob, entropy;  // [N]

  std::int64_t count() const { return logprob.numel(); }
};
using Coefficients = std::function<TokenGradient(const TokensNow&)>;
// The tokens on which a token's coefficients depend. If it is the token alone, they are requested
// for consecutive ranges, and the logits are computed once instead of twice (head_gradient.h).
enum class Dependence { token, micro_batch };

// Adds sum(coefficient * d logprob) over the micro-batch's trained tokens to the gradients of the
// model's weights, and the same for the entropy.
void add_token_gradient(const model::Transformer& model, const MicroBatch& batch,
                        double temperature, Dependence dependence,
                        const Coefficients& coefficients);

}  // namespace tritonsmith::train
