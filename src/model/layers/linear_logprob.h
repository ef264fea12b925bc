// linear_logprob: the model's head, which never stores all logits. From hidden states and the head
// weight it computes the log-probability of given targets and the entropy of their distribution. It
// works on a chunk of rows at a time. Any thread may call it.
#pragma once

#include <ATen/core/Tensor.h>

namespace tritonsmith::model {

struct LogprobAndEntropy {
  at::Tensor logprob;  // [N] log softmax(hidden · head^T / temperature)[target]
  at::Tensor entropy;  // [N] of that softmax, in nats
};

// hidden [N, H], head_weight [V, H], targets [N] int64. A negative target is masked: its logprob,
// entropy and gradients are exactly 0. N may be 0. Both outputs are float32 or wider and
// differentiable in hidden and head_weight. The row's maximum is subtracted before the normaliser
// is taken, so no logprob is above 0.
//
// On a CPU the fused kernels compute it (fused_layer.h). On a GPU our own kernels do
// (cuda_layer.h): in bfloat16 for bfloat16 hidden states, in float16 for float32 ones. Other cases
// use ATen. The GPU kernels add d_head to the .grad() of a leaf themselves.
LogprobAndEntropy linear_logprob(const at::Tensor& hidden, const at::Tensor& head_weight,
                                 const at::Tensor& targets, double temperature = 1.0);

// The same in plain ATen on any device.
LogprobAndEntropy aten_linear_logprob(const at::Tensor& hidden, const at::Tensor& head_weight,
                                      const at::Tensor& targets, double temperature = 1.0);

}  // namespace tritonsmith::model
