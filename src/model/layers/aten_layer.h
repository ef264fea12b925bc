// Computes a decoder layer in plain ATen, differentiated by autograd. It runs on a GPU that our own
// kernels do not serve, and it is the reference in the tests of the fused kernels.
#pragma once

#include "model/batch/packed_batch.h"
#include "model/config/config.h"
#include "model/weights/model_weights.h"

namespace tritonsmith::model {

// RoPE's cosines and sines of the positions 0..n-1.
struct RopeTable {
  at::Tensor cos, sin;  // [n, head_dim / 2], in the compute dtype
};
RopeTable make_rope_table(const ModelConfig& config, std::int64_t positions,
                          const at::TensorOptions& options);
// Returns the table's row for each token of the batch: [T, head_dim / 2].
RopeTable rope_of_batch(const RopeTable& table, const PackedBatch& batch);

// Returns x / rms(x) * weight. The mean is taken in float32 or wider.
at::Tensor aten_rms_norm(const at::Tensor& x, const at::Tensor& weight, double eps);

// x is [T, H]; `rope` has one row for each token.
at::Tensor aten_layer(const at::Tensor& x, const LayerWeights& weights, const ModelConfig& config,
                      const RopeTable& rope, const PackedBatch& batch);

// q, k and v of x after RoPE: [T, heads, D], [T, kv_heads, D], [T, kv_heads, D].
struct QueryKeyValue {
  at::Tensor query, key, value;
};
QueryKeyValue aten_project(const at::Tensor& x, const LayerWeights& weights,
                           const ModelConfig& config, const RopeTable& rope);
// Computes causal attention within each sequence: [T, heads * D].
at::Tensor aten_attend(const QueryKeyValue& qkv, const PackedBatch& batch,
                       const ModelConfig& config);
// Computes the part after attention: output projection, residuals and MLP. `attended` is [T, heads
// * D].
at::Tensor aten_finish_layer(const at::Tensor& x, const at::Tensor& attended,
                             const LayerWeights& weights, const ModelConfig& config);

}  // namespace tritonsmith::model
