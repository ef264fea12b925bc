// A decoder layer in plain ATen, differentiated by autograd: what runs on a GPU, and the oracle
// that the fused CPU kernels are tested against.
#pragma once

#include "model/transformer.h"

namespace tritonsmith::model {

// RoPE's cosines and sines of positions 0..n-1.
struct RopeTable {
  at::Tensor cos, sin;  // [n, head_dim / 2], in the compute dtype
};
RopeTable make_rope_table(const ModelConfig& config, std::int64_t positions,
                          const at::TensorOptions& options);
// The rows of the table for each token of the batch: [T, head_dim / 2].
RopeTable rope_of_batch(const RopeTable& table, const PackedBatch& batch);

// x / rms(x) * weight; the mean is taken in float32 at least.
at::Tensor aten_rms_norm(const at::Tensor& x, const at::Tensor& weight, double eps);

// x is [T, H]; `rope` has one row a token.
at::Tensor aten_layer(const at::Tensor& x, const LayerWeights& weights, const ModelConfig& config,
                      const RopeTable& rope, const PackedBatch& batch);

// q, k, v of x with RoPE applied: [T, heads, D], [T, kv_heads, D], [T, kv_heads, D].
struct QueryKeyValue {
  at::Tensor query, key, value;
};
QueryKeyValue aten_project(const at::Tensor& x, const LayerWeights& weights,
                           const ModelConfig& config, const RopeTable& rope);
// Causal attention within each sequence: [T, heads * D].
at::Tensor aten_attend(const QueryKeyValue& qkv, const PackedBatch& batch,
                       const ModelConfig& config);
// What follows attention: output projection, residuals and MLP. `attended` is [T, heads * D].
at::Tensor aten_finish_layer(const at::Tensor& x, const at::Tensor& attended,
                             const LayerWeights& weights, const ModelConfig& config);

}  // namespace tritonsmith::model
