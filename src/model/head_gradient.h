// Log-probabilities of given targets and their gradient in one pass over the logits, where the
// gradient of a loss in each token's log-probability follows from that token alone: cross-entropy,
// and the policy losses whose ratios are those of tokens. linear_logprob() knows the gradient only
// once all tokens are there, and so computes the logits twice, a tenth of a training pass each.
#pragma once

#include <functional>

#include "model/linear_logprob.h"
#include "model/transformer.h"

namespace tritonsmith::model {

// Of the rows [begin, begin + n): what they are now, [n] each, and the loss's derivatives in both;
// that in the entropy may be undefined, for 0.
using RowGradient =
    std::function<LogprobAndEntropy(std::int64_t begin, const LogprobAndEntropy& now)>;

// Whether head_gradient() serves: our own CUDA kernels do, other code gains nothing by it.
bool serves_head_gradient(const Transformer& model, const at::Tensor& hidden);

// hidden [N, H] as model.forward() gives it, targets [N] int64. Gives the loss's derivative in
// `hidden`, [N, H] in its type, and adds that in the head weight to its .grad(). A negative target
// is masked as linear_logprob() has it.
at::Tensor head_gradient(const Transformer& model, const at::Tensor& hidden,
                         const at::Tensor& targets, double temperature,
                         const RowGradient& gradient);

}  // namespace tritonsmith::model
