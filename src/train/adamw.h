// AdamW over flat buffers: "Decoupled Weight Decay Regularization", arXiv 1711.05101, with bias
// correction:
//   m <- b1 m + (1 - b1) g        v <- b2 v + (1 - b2) g^2
//   w <- w - lr (decay w + (m / (1 - b1^t)) / (sqrt(v / (1 - b2^t)) + epsilon))
// Norms and biases take no decay. The passes are LibTorch's fused kernels, on either device.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

#include "train/flat_parameters.h"

namespace tritonsmith::train {

struct AdamWOptions {
  double beta1 = 0.9;
  double beta2 = 0.95;
  double epsilon = 1e-8;
  double weight_decay = 0.01;
};

// All a resumed run needs besides the weights.
struct AdamWState {
  at::Tensor first, second;  // m and v, [P] fp32
  std::int64_t updates = 0;  // t

  static AdamWState zeros_like(const FlatParameters& parameters);
};

// One update of parameters.values() by parameters.gradients().
void adamw_update(FlatParameters& parameters, AdamWState& state, const AdamWOptions& options,
                  double learning_rate);

// Scales all gradients so that their 2-norm is at most `max_norm` (0: no limit). Returns the norm
// before that; gradients that are not finite are left as they are.
double clip_gradients(const FlatParameters& parameters, double max_norm);

}  // namespace tritonsmith::train
