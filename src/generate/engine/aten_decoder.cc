#include "generate/engine/aten_decoder.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace tritonsmith::generate::engine {
namespace {

using model::LayerWeights;

LayerWeights converted(const LayerWeights& w, at::ScalarType dtype) {
  const auto bias = [&](const at::Tensor& t) { return t.defined() ? t.to(dtype) : t; };
  // Norms stay wide, because aten_rms_norm multiplies before it rounds.
  return {.input_norm = w.input_norm,
          .q = w.q.to(dtype),
          .q_bias = bias(w.q_bias),
          .k = w.k.to(dtype),
          .k_bias = bias(w.k_bias),
          .v = w.v.to(dtype),
          .v_bias = bias(w.v_bias),
          .q_norm = w.q_norm,
          .k_norm = w.k_norm,
          .o = w.o.to(dtype),
          .post_norm = w.post_norm,
          .gate = w.gate.to(dtype),
          .up = w.up.to(dtype),
          .down = w.down.to(dtype)};
}

}  // namespace

AtenDecoder::AtenDecoder(const model::Transformer& model, int slots)
    : model_(model),
      dtype_(model.device().is_cuda() ? at::kBFloat16 : model.embedding().scalar_type()),
      slots_(slots),
      keys_(model.layers().size()),
      values_(model.layers().size()) {
  rope_ = model::make_rope_table(model.config(), model.config().max_position_embeddings,
                                 at::TensorOptions(dtype_).device(model.device()));
}

void AtenDecoder::refresh() {
  const at::NoGradGuard no_grad;
  layers_.clear();
  for (const auto& layer : model_.layers()) layers_.push_back(converted(layer, dtype_));
  embedding_ = model_.embedding().to(dtype_);
  head_ = model_.head_weight().to(dtype_);
}

void AtenDecoder::reserve(int /*slot*/, std::int64_t length) {
  if (length <= capacity_) return;
  const at::NoGradGuard no_grad;
  constexpr std::int64_t kStep = 256;
  const std::int64_t capacity = (length + kStep - 1) / kStep * kStep;
  const auto& config = model_.config();
  for (auto* cache : {&keys_, &values_})
    for (at::Tensor& layer : *cache) {
      at::Tensor grown = at::zeros({slots_, config.num_key_value_heads, capacity, config.head_dim},
                                   embedding_.options());
      if (layer.defined()) grown.narrow(2, 0, capacity_).copy_(layer);
      layer = grown;
    }
  capacity_ = capacity;
}

void AtenDecoder::prefill(std::span<const Prompt> prompts, float* logits) {
  const at::NoGradGuard no_grad;
  std::vector<std::vector<TokenId>> sequences;
  for (const Prompt& prompt : prompts)
    sequences.emplace_back(prompt.tokens.begin(), prompt.tokens.end());
  const auto batch = model::pack(sequences, model_.device());
  const auto rope = model::rope_of_batch(rope_, batch);
  at::Tensor x = at::embedding(embedding_, batch.tokens);
  for (std::size_t n = 0; n < layers_.size(); ++n) {
    const auto qkv = model::aten_project(x, layers_[n], model_.config(), rope);
    for (std::size_t i = 0; i < prompts.size(); ++i) {
      const std::int64_t begin = batch.offsets[i], length = batch.offsets[i + 1] - begin;
      const auto fill = [&](const at::Tensor& cache, const at::Tensor& rows) {
        cache[prompts[i].slot]
            .narrow(1, 0, length)
            .copy_(rows.narrow(0, begin, length).transpose(0, 1));
      };
      fill(keys_[n], qkv.key);
      fill(values_[n], qkv.value);
    }
    const auto attended = model::aten_attend(qkv, batch, model_.config());
    x = model::aten_finish_layer(x, attended, layers_[n], model_.config());
  }
  std::vector<std::int64_t> last;
  for (std::size_t i = 1; i < batch.offsets.size(); ++i) last.push_back(batch.offsets[i] - 1);
  write_logits(x.index_select(0, at::tensor(last, at::kLong).to(x.device())), logits);
}

void AtenDecoder::copy(int from, int to, std::int64_t length) {
  const at::NoGradGuard no_grad;
  for (auto* cache : {&keys_, &values_})
    for (at::Tensor& layer : *cache)
      layer[to].narrow(1, 0, length).copy_(layer[from].narrow(1, 0, length));
}

// `positions` is [S] on the device. The rows of qkv are slots 0..S-1.
at::Tensor AtenDecoder::attend_slots(const model::QueryKeyValue& qkv, std::size_t layer,
                                     const at::Tensor& positions, std::int64_t longest) {
  const auto& config = model_.config();
  const std::int64_t slots = positions.size(0),
                     group = config.num_attention_heads / config.num_key_value_heads;
  const auto cached = [&](at::Tensor& cache, const at::Tensor& rows) {
    const auto used = cache.narrow(0, 0, slots);
    const auto index = positions.view({slots, 1, 1, 1})
                           .expand({slots, config.num_key_value_heads, 1, config.head_dim});
    used.scatter_(2, index, rows.unsqueeze(2));
    return used.narrow(2, 0, longest);  // [S, kv_heads, longest, D]
  };
  const auto keys = cached(keys_[layer], qkv.key), values = cached(values_[layer], qkv.value);
  const auto queries = qkv.query.view({slots, config.num_key_value_heads, group, config.head_dim});
  const double scale = 1.0 / std::sqrt(static_cast<double>(config.head_dim));
  auto scores = at::matmul(queries, keys.transpose(-1, -2)).to(at::kFloat) * scale;
  const auto later = at::arange(longest, positions.options()).view({1, 1, 1, longest}) >
                     positions.view({slots, 1, 1, 1});
  scores = scores.masked_fill(later, -std::numeric_limits<float>::infinity());
  return at::matmul(at::softmax(scores, -1).to(dtype_), values)
      .reshape({slots, config.query_size()});
}

void AtenDecoder::decode(std::span<const Step> steps, float* logits) {
  const at::NoGradGuard no_grad;
  std::int64_t slots = 0, longest = 0;
  for (const Step& step : steps) {
    slots = std::max<std::int64_t>(slots, step.slot + 1);
    longest = std::max(longest, step.position + 1);
  }
  // A slot without a step writes to a position after all tokens that are read.
  std::vector<std::int64_t> tokens(static_cast<std::size_t>(slots), 0);
  std::vector<std::int64_t> positions(static_cast<std::size_t>(slots), capacity_ - 1), rows;
  for (const Step& step : steps) {
    tokens[static_cast<std::size_t>(step.slot)] = step.token;
    positions[static_cast<std::size_t>(step.slot)] = step.position;
    rows.push_back(step.slot);
  }
  const auto on_device = [&](const std::vector<std::int64_t>& values) {
    return at::tensor(values, at::kLong).to(model_.device());
  };
  const at::Tensor at_position = on_device(positions);
  const at::Tensor clamped = at_position.clamp_max(rope_.cos.size(0) - 1);
  const model::RopeTable rope = {.cos = rope_.cos.index_select(0, clamped),
                                 .sin = rope_.sin.index_select(0, clamped)};
  at::Tensor x = at::embedding(embedding_, on_device(tokens));
  for (std::size_t n = 0; n < layers_.size(); ++n) {
    const auto qkv = model::aten_project(x, layers_[n], model_.config(), rope);
    const auto attended = attend_slots(qkv, n, at_position, longest);
    x = model::aten_finish_layer(x, attended, layers_[n], model_.config());
  }
  write_logits(x.index_select(0, on_device(rows)), logits);
}

void AtenDecoder::write_logits(const at::Tensor& x, float* logits) const {
  const auto normed = model::aten_rms_norm(x, model_.final_norm(), model_.config().rms_norm_eps);
  const auto values = at::matmul(normed, head_.t()).to(at::kFloat).to(at::kCPU).contiguous();
  std::copy_n(values.const_data_ptr<float>(), values.numel(), logits);
}

}  // namespace tritonsmith::generate::engine
