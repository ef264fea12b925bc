// The head of the model without its logits: log-probability of given targets, and entropy of the
// distribution they were given under, straight from hidden states and head weight, a chunk of rows
// at a time.
#pragma once

#include <ATen/core/Tensor.h>

namespace tritonsmith::model {

struct LogprobAndEntropy {
  at::Tensor logprob;  // [N] log softmax(hidden · head^T / temperature)[target]
  at::Tensor entropy;  // [N] of that softmax, in nats
};

// hidden [N, H], head_weight [V, H], targets [N] int64. A negative target is masked: its logprob,
// entropy and gradients are exactly 0. N may be 0. Both outputs are float32 at least and
// differentiable in hidden and head_weight; the normaliser is taken after subtracting the row's
// maximum, so no logprob is ever above 0.
// On a CPU the fused kernels compute it (fused_layer.h), on a GPU our own kernels (cuda_layer.h)
// from bfloat16 hidden states, and in float16 from float32 ones, else ATen. The kernels add d_head
// to .grad() of a leaf themselves.
LogprobAndEntropy linear_logprob(const at::Tensor& hidden, const at::Tensor& head_weight,
                                 const at::Tensor& targets, double temperature = 1.0);

// The same in plain ATen, on any device.
LogprobAndEntropy aten_linear_logprob(const at::Tensor& hidden, const at::Tensor& head_weight,
                                      const at::Tensor& targets, double temperature = 1.0);

}  // namespace tritonsmith::model
