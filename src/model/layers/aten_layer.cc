#include "model/layers/aten_layer.h"

#include <ATen/ATen.h>

#include <cmath>
#include <optional>
#include <vector>

namespace tritonsmith::model {
namespace {

// x is [T, heads, D]. Hugging Face's layout pairs element i with i + D/2.
at::Tensor rotate(const at::Tensor& x, const RopeTable& rope) {
  const auto halves = x.chunk(2, -1);
  const at::Tensor cos = rope.cos.unsqueeze(1);  // [T, 1, D/2]
  const at::Tensor sin = rope.sin.unsqueeze(1);
  return at::cat({halves[0] * cos - halves[1] * sin, halves[1] * cos + halves[0] * sin}, -1);
}

at::Tensor apply_linear(const at::Tensor& x, const at::Tensor& weight,
                        const at::Tensor& bias = {}) {
  return at::linear(x, weight.to(x.scalar_type()),
                    bias.defined() ? bias.to(x.scalar_type()) : bias);
}

// Attention of one sequence, causal: queries [L, heads, D] of its last tokens, keys and values of
// all tokens.
at::Tensor attend_sequence(const QueryKeyValue& qkv, double scale) {
  const auto heads_first = [](const at::Tensor& t) { return t.transpose(0, 1).unsqueeze(0); };
  const std::int64_t rows = qkv.query.size(0), keys = qkv.key.size(0);
  const bool is_whole = rows == keys;
  const std::optional<at::Tensor> mask =
      is_whole ? std::optional<at::Tensor>()
               : at::ones({rows, keys}, qkv.query.options().dtype(at::kBool)).tril(keys - rows);
  return at::scaled_dot_product_attention(heads_first(qkv.query), heads_first(qkv.key),
                                          heads_first(qkv.value), mask, 0.0, is_whole, scale, true)
      .squeeze(0)
      .transpose(0, 1);
}

// Returns keys and values as if no sequence shared its prefix with another.
QueryKeyValue with_whole_sequences(const QueryKeyValue& qkv, const SharedKeys& keys) {
  const at::Tensor rows = at::tensor(keys.rows, at::kLong).to(qkv.query.device());
  return {.query = qkv.query,
          .key = qkv.key.index_select(0, rows),
          .value = qkv.value.index_select(0, rows)};
}

at::Tensor attend_by_sequence(const QueryKeyValue& qkv, const PackedBatch& batch,
                              const std::vector<std::int64_t>& key_offsets, double scale) {
  std::vector<at::Tensor> outputs;
  for (std::int64_t b = 0; b < batch.sequences(); ++b) {
    if (batch.rows_of(b) == 0) continue;
    const auto part = [b](const at::Tensor& t, const std::vector<std::int64_t>& offsets) {
      const auto at = static_cast<std::size_t>(b);
      return t.slice(0, offsets[at], offsets[at + 1]);
    };
    outputs.push_back(attend_sequence({.query = part(qkv.query, batch.offsets),
                                       .key = part(qkv.key, key_offsets),
                                       .value = part(qkv.value, key_offsets)},
                                      scale));
  }
  return outputs.empty() ? qkv.query : at::cat(outputs);
}

// FlashAttention over all sequences at once. It exists for 16-bit types on a GPU only.
at::Tensor attend_packed(const QueryKeyValue& qkv, const PackedBatch& batch,
                         const std::vector<std::int64_t>& key_offsets, double scale) {
  const auto on_device = [&](const std::vector<std::int64_t>& offsets) {
    return at::tensor(offsets, at::kInt).to(qkv.query.device());
  };
  return std::get<0>(at::_flash_attention_forward(
      qkv.query, qkv.key, qkv.value, on_device(batch.offsets), on_device(key_offsets),
      batch.longest_rows(), batch.longest(), 0.0, /*is_causal=*/true,
      /*return_debug_mask=*/false, scale));
}

// Returns [D/2], in radians for each position. Every step is float32, because the families were
// trained so. At position 30000 the rounding of an angle is 1e-3, so more exact frequencies would
// change the model.
at::Tensor rope_frequencies(const ModelConfig& config) {
  const at::Tensor exponents = at::arange(0, config.head_dim, 2, at::kFloat) / config.head_dim;
  at::Tensor plain = at::reciprocal(at::pow(config.rope_theta, exponents));
  const RopeScaling& scaling = config.rope_scaling;
  if (scaling.factor == 1) return plain;
  const auto original = static_cast<double>(scaling.original_max_position_embeddings);
  const at::Tensor wave = 2 * M_PI / plain;  // in tokens
  const at::Tensor slow = plain / scaling.factor;
  const at::Tensor share = (original / wave - scaling.low_freq_factor) /
                           (scaling.high_freq_factor - scaling.low_freq_factor);
  const at::Tensor blended = (1 - share) * slow + share * plain;
  return at::where(wave > original / scaling.low_freq_factor, slow,
                   at::where(wave < original / scaling.high_freq_factor, plain, blended));
}

}  // namespace

RopeTable make_rope_table(const ModelConfig& config, std::int64_t positions,
                          const at::TensorOptions& options) {
  // The pieces have one size and are too small for several threads. A row therefore has the same
  // bits in a table of any length, however a library vectorises.
  constexpr std::int64_t kPiece = 128;
  const at::Tensor frequencies = rope_frequencies(config);
  std::vector<at::Tensor> cos, sin;
  for (std::int64_t begin = 0; begin < positions || begin == 0; begin += kPiece) {
    const auto angles = at::arange(begin, begin + kPiece, at::kFloat).unsqueeze(1) * frequencies;
    cos.push_back(angles.cos());
    sin.push_back(angles.sin());
  }
  const auto joined = [&](const std::vector<at::Tensor>& pieces) {
    return at::cat(pieces).narrow(0, 0, positions).to(options).contiguous();
  };
  return {.cos = joined(cos), .sin = joined(sin)};
}

RopeTable rope_of_batch(const RopeTable& table, const PackedBatch& batch) {
  const auto index = at::tensor(batch.positions(), at::kLong).to(table.cos.device());
  return {.cos = table.cos.index_select(0, index), .sin = table.sin.index_select(0, index)};
}

at::Tensor aten_rms_norm(const at::Tensor& x, const at::Tensor& weight, double eps) {
  const auto wide = x.scalar_type() == at::kDouble ? x : x.to(at::kFloat);
  const auto rstd = (wide.square().mean(-1, true) + eps).rsqrt();
  return ((wide * rstd) * weight).to(x.scalar_type());
}

QueryKeyValue aten_project(const at::Tensor& x, const LayerWeights& weights,
                           const ModelConfig& config, const RopeTable& rope) {
  const auto normed = aten_rms_norm(x, weights.input_norm, config.rms_norm_eps);
  const auto heads = [&](const at::Tensor& t, std::int64_t count) {
    return t.view({t.size(0), count, config.head_dim});
  };
  auto q = heads(apply_linear(normed, weights.q, weights.q_bias), config.num_attention_heads);
  auto k = heads(apply_linear(normed, weights.k, weights.k_bias), config.num_key_value_heads);
  const auto v = heads(apply_linear(normed, weights.v, weights.v_bias), config.num_key_value_heads);
  if (weights.q_norm.defined()) q = aten_rms_norm(q, weights.q_norm, config.rms_norm_eps);
  if (weights.k_norm.defined()) k = aten_rms_norm(k, weights.k_norm, config.rms_norm_eps);
  return {.query = rotate(q, rope), .key = rotate(k, rope), .value = v};
}

at::Tensor aten_finish_layer(const at::Tensor& x, const at::Tensor& attended,
                             const LayerWeights& weights, const ModelConfig& config) {
  const auto middle = x + apply_linear(attended, weights.o);
  const auto normed = aten_rms_norm(middle, weights.post_norm, config.rms_norm_eps);
  const auto inner =
      at::silu(apply_linear(normed, weights.gate)) * apply_linear(normed, weights.up);
  return middle + apply_linear(inner, weights.down);
}

at::Tensor aten_attend(const QueryKeyValue& qkv, const PackedBatch& batch,
                       const ModelConfig& config) {
  const double scale = 1.0 / std::sqrt(static_cast<double>(config.head_dim));
  const bool flash = qkv.query.is_cuda() && qkv.query.element_size() == 2;
  const bool is_shared = batch.is_shared();
  const SharedKeys keys = is_shared ? shared_keys(batch) : SharedKeys();
  const QueryKeyValue whole = is_shared ? with_whole_sequences(qkv, keys) : qkv;
  const auto& key_offsets = is_shared ? keys.offsets : batch.offsets;
  const auto attended = flash ? attend_packed(whole, batch, key_offsets, scale)
                              : attend_by_sequence(whole, batch, key_offsets, scale);
  return attended.reshape({qkv.query.size(0), config.query_size()});
}

at::Tensor aten_layer(const at::Tensor& x, const LayerWeights& weights, const ModelConfig& config,
                      const RopeTable& rope, const PackedBatch& batch) {
  const auto qkv = aten_project(x, weights, config, rope);
  return aten_finish_layer(x, aten_attend(qkv, batch, config), weights, config);
}

}  // namespace tritonsmith::model
