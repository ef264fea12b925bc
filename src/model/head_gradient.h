// Log-probabilities of given targets and their gradient in one pass over the logits. It requires
// that the loss's derivative for a token follows from that token alone. Cross-entropy and policy
// losses with ratios of single tokens fulfil this. linear_logprob() knows the gradient only after
// all tokens, so it computes the logits twice. Each time costs a tenth of a training pass.
#pragma once

#include <functional>

#include "model/linear_logprob.h"
#include "model/transformer.h"

namespace tritonsmith::model {

// For rows [begin, begin + n): takes their current log-probabilities and entropies, [n] each.
// Returns the loss's derivatives in both. The derivative in the entropy may be undefined, which
// means 0.
using RowGradient =
    std::function<LogprobAndEntropy(std::int64_t begin, const LogprobAndEntropy& now)>;

// Tells whether head_gradient() supports this case. Only our own CUDA kernels gain from it.
bool serves_head_gradient(const Transformer& model, const at::Tensor& hidden);

// hidden [N, H] comes from model.forward(); targets are [N] int64. Returns the loss's derivative in
// `hidden`, [N, H] of the same type. Adds the derivative in the head weight to its .grad(). A
// negative target is masked as in linear_logprob().
at::Tensor head_gradient(const Transformer& model, const at::Tensor& hidden,
                         const at::Tensor& targets, double temperature,
                         const RowGradient& gradient);

}  // namespace tritonsmith::model
