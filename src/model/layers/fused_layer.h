// Computes the decoder layer, the norm and the head as single autograd nodes over the CPU kernels
// (cpu/). Forward and backward are written by hand, instead of some forty small nodes for each
// layer. The tensors are float32 or float64 on the CPU.
#pragma once

#include <memory>
#include <optional>

#include "model/cpu/shape.h"
#include "model/layers/aten_layer.h"
#include "model/layers/linear_logprob.h"

namespace tritonsmith::model {

cpu::LayerShape layer_shape(const ModelConfig& config);

// The data that the layers of one forward share. The backward keeps it alive.
struct PackedLayout {
  std::vector<std::int64_t> offsets;    // [B + 1]
  std::vector<std::int64_t> positions;  // [T]
  std::optional<SharedKeys> shared;     // set if sequences share their prefixes
  RopeTable rope;                       // rows by position
};
std::shared_ptr<const PackedLayout> make_layout(const PackedBatch& batch, RopeTable rope);

// x is [T, H].
at::Tensor fused_layer(const at::Tensor& x, const LayerWeights& weights, const ModelConfig& config,
                       std::shared_ptr<const PackedLayout> layout);
at::Tensor fused_rms_norm(const at::Tensor& x, const at::Tensor& weight, double eps);
LogprobAndEntropy fused_linear_logprob(const at::Tensor& hidden, const at::Tensor& head_weight,
                                       const at::Tensor& targets, double temperature);

}  // namespace tritonsmith::model
