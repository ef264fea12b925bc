#include "model/transformer/transformer.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include "base/check.h"
#include "model/layers/aten_layer.h"
#include "model/layers/cuda_layer.h"
#include "model/layers/fused_layer.h"
#include "model/weights/flat_layout.h"
#include "model/weights/random_weights.h"

namespace tritonsmith::model {

c10::ScalarType type_of(Precision precision) {
  return precision == Precision::float16 ? at::kHalf : at::kBFloat16;
}

Transformer::Transformer(const ModelConfig& config, c10::Device device, c10::ScalarType dtype)
    : config_(config), device_(device), dtype_(dtype), weights_(config, device, dtype) {}

Transformer Transformer::random(const ModelConfig& config, std::uint64_t seed, c10::Device device) {
  Transformer model(config, device);
  fill_random_weights(model.weights_.parameters, config.initializer_range, seed);
  return model;
}

Transformer Transformer::frozen_copy() const {
  CHECK(half_ == nullptr || half_->follows(), "a copy of weights whose masters are elsewhere");
  Transformer copy(config_, device_, dtype_);
  const at::NoGradGuard no_grad;
  for (std::size_t i = 0; i < parameters().size(); ++i) {
    at::Tensor& copied = copy.weights_.parameters[i].tensor;
    copied.copy_(parameters()[i].tensor);
    copied.requires_grad_(false);
  }
  copy.path_ = path_;
  copy.recompute_ = recompute_;
  copy.precision_ = precision_;
  copy.sums_ = sums_;
  return copy;
}

void Transformer::check_batch(const PackedBatch& batch) const {
  CHECK(!batch.offsets.empty() && batch.offsets.front() == 0 &&
            batch.length() == batch.tokens.size(0),
        "offsets must begin at 0 and end at the number of tokens ({})", batch.tokens.size(0));
  CHECK(batch.prefixes.empty() || std::ssize(batch.prefixes) == batch.sequences(),
        "{} sequences, but {} prefixes", batch.sequences(), batch.prefixes.size());
  CHECK(batch.longest() <= config_.max_position_embeddings,
        "a sequence of {} tokens, but the model has {} positions", batch.longest(),
        config_.max_position_embeddings);
}

void Transformer::set_precision(Precision precision) {
  CHECK(half_ == nullptr || precision == precision_, "the 16-bit weights are in use");
  precision_ = precision;
}

HalfWeights* Transformer::half_weights() const {
  if (!device_.is_cuda() || dtype_ != at::kFloat || path_ == LayerPath::aten ||
      !HalfWeights::serve(config_))
    return nullptr;
  if (half_ == nullptr)
    half_ = std::make_shared<HalfWeights>(weights_, type_of(precision_), FlatLayout::kRow);
  else
    half_->refresh(weights_);
  return half_.get();
}

HeadWeights Transformer::head() const {
  const HalfWeights* half = half_weights();
  return {.master = weights_.head, .half = half != nullptr ? half->head() : at::Tensor()};
}

HalfWeights* Transformer::keep_half_weights(std::int64_t unit) {
  CHECK(half_ == nullptr, "the 16-bit weights are in use");
  if (!device_.is_cuda() || dtype_ != at::kFloat || !HalfWeights::serve(config_)) return nullptr;
  half_ = std::make_shared<HalfWeights>(weights_, type_of(precision_), unit);
  half_->stop_following();
  return half_.get();
}

std::vector<at::Tensor> Transformer::whole_masters() const {
  std::vector<at::Tensor> whole = {weights_.embedding};
  if (!weights_.head.is_same(weights_.embedding)) whole.push_back(weights_.head);
  for (const NamedTensor& each : weights_.parameters)
    if (each.tensor.dim() < 2) whole.push_back(each.tensor);
  return whole;
}

at::Tensor Transformer::forward_cuda(const PackedBatch& batch, const HalfWeights& half) const {
  at::Tensor x = cuda_embedding(weights_.embedding, batch.tokens);  // [T, H] float32
  const auto shared = make_cuda_batch(
      batch, make_rope_table(config_, batch.longest(), x.options().requires_grad(false)), sums_);
  const bool is_trained = at::GradMode::is_enabled() && x.requires_grad();
  for (std::size_t n = 0; n < weights_.layers.size(); ++n) {
    const CudaLayerWeights weights = {&weights_.layers[n], &half.layers()[n]};
    if (is_trained)
      x = cuda_layer(x, weights, config_, shared, recompute_);
    else
      cuda_layer_inference(x, weights, config_, *shared, training_cublas(device_, sums_));
  }
  return cuda_rms_norm(x, weights_.final_norm, config_.rms_norm_eps, type_of(precision_));
}

at::Tensor Transformer::forward(const PackedBatch& batch) const {
  check_batch(batch);
  if (const HalfWeights* half = half_weights(); half != nullptr && batch.length() > 0)
    return forward_cuda(batch, *half);
  at::Tensor x = at::embedding(weights_.embedding, batch.tokens);  // [T, H]
  if (device_.is_cuda()) x = x.to(at::kBFloat16);
  RopeTable table = make_rope_table(config_, batch.longest(), x.options().requires_grad(false));
  if (device_.is_cpu() && path_ == LayerPath::automatic) {
    const auto layout = make_layout(batch, std::move(table));
    for (const LayerWeights& layer : weights_.layers) x = fused_layer(x, layer, config_, layout);
    return fused_rms_norm(x, weights_.final_norm, config_.rms_norm_eps);
  }
  const RopeTable rope = rope_of_batch(table, batch);
  for (const LayerWeights& layer : weights_.layers) x = aten_layer(x, layer, config_, rope, batch);
  return aten_rms_norm(x, weights_.final_norm, config_.rms_norm_eps);
}

}  // namespace tritonsmith::model
