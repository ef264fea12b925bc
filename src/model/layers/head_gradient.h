// Computes the log-probabilities of given targets and their gradient in one pass over the logits.
// It requires that the loss's derivative for a token follows from that token alone. Cross-entropy
// and policy losses with ratios of single tokens fulfil this. linear_logprob() knows the gradient
// only after all tokens, so it computes the logits twice. Each time costs a tenth of a training
// pass.
#pragma once

#include <functional>

#include "model/layers/linear_logprob.h"

namespace tritonsmith::model {

// For rows [begin, begin + n): takes their current log-probabilities and entropies, [n] each.
// Returns the loss's derivatives in both. The derivative in the entropy may be undefined, which
// means 0.
using RowGradient =
    std::function<LogprobAndEntropy(std::int64_t begin, const LogprobAndEntropy& now)>;

// The head of a model (Transformer::head()).
struct HeadWeights {
  at::Tensor master;  // [V, H] float32
  at::Tensor half;    // its 16-bit copy; undefined if our CUDA kernels do not support the model
};

// Tells whether head_gradient() supports this case. Only our own CUDA kernels gain from it.
bool serves_head_gradient(const HeadWeights& head, const at::Tensor& hidden);

// hidden [N, H] comes from the model's forward(); targets are [N] int64. Returns the loss's
// derivative in `hidden`, [N, H] of the same type. Adds the derivative in the head weight to the
// .grad() of head.master. A negative target is masked as in linear_logprob().
at::Tensor head_gradient(const HeadWeights& head, const at::Tensor& hidden,
                         const at::Tensor& targets, double temperature,
                         const RowGradient& gradient);

}  // namespace tritonsmith::model
