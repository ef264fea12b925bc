// Updates flat buffers by AdamW ("Decoupled Weight Decay Regularization", arXiv 1711.05101), with
// bias correction:
//   m <- b1 m + (1 - b1) g        v <- b2 v + (1 - b2) g^2
//   w <- w - lr (decay w + (m / (1 - b1^t)) / (sqrt(v / (1 - b2^t)) + epsilon))
// Norms and biases take no decay. On a CPU the passes are LibTorch's fused kernels.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

#include "train/optimizer/flat_parameters.h"

namespace tritonsmith::train {

struct AdamWOptions {
  double beta1 = 0.9;
  double beta2 = 0.95;
  double epsilon = 1e-8;
  double weight_decay = 0.01;
};

// The state that a resumed run needs besides the weights.
struct AdamWState {
  at::Tensor first, second;  // m and v: [P] fp32, or a rank's shard
  std::int64_t updates = 0;  // t

  static AdamWState zeros_like(const FlatParameters& parameters) {
    return zeros_like(parameters.whole());
  }
  static AdamWState zeros_like(const FlatPart& part);
};

// The scaling of gradients before an update.
struct Clipping {
  double norm = 0;   // their 2-norm
  double scale = 1;  // factor of the gradients
};
// Limits the 2-norm of all gradients to `max_norm` (0: no limit). Gradients that are not finite get
// the factor 1.
Clipping clipping(const FlatParameters& parameters, double max_norm);
// The same for a given norm.
Clipping clipping_of(double norm, double max_norm);
// Returns the 2-norm of flat gradients, [N]. N is a multiple of FlatLayout::kRow.
double norm_of(const at::Tensor& gradients);

struct AdamWStep {
  double learning_rate = 0;
  double gradient_scale = 1;
  at::Tensor half;  // [P], 16 bits, on a GPU: also receives the new weights; may be undefined
};

// Updates the values once by the gradients, which it may scale in place. On a GPU it is one pass of
// our own kernel, if the build has it.
void adamw_update(const FlatPart& part, AdamWState& state, const AdamWOptions& options,
                  const AdamWStep& step);
inline void adamw_update(FlatParameters& parameters, AdamWState& state, const AdamWOptions& options,
                         const AdamWStep& step) {
  adamw_update(parameters.whole(), state, options, step);
}

}  // namespace tritonsmith::train
