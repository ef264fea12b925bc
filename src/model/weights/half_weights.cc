#include "model/weights/half_weights.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include "base/check.h"
#include "model/cuda/kernels.h"
#include "model/weights/flat_layout.h"

namespace tritonsmith::model {
namespace {

// LibTorch counts the changes of each tensor.
std::int64_t version_of(const ModelWeights& weights) {
  std::int64_t version = 0;
  for (const auto& [name, tensor] : weights.parameters)
    version += static_cast<std::int64_t>(tensor._version());
  return version;
}

// Finds the part of the flat buffer for a master.
class Parts {
 public:
  Parts(const ModelWeights& weights, const std::vector<at::Tensor>& parts)
      : weights_(weights), parts_(parts) {}

  const at::Tensor& of(const at::Tensor& master) const {
    std::size_t i = 0;
    while (i < parts_.size() && !weights_.parameters[i].tensor.is_same(master)) ++i;
    CHECK(i < parts_.size(), "a weight that is no parameter of its model");
    return parts_[i];
  }

  // Returns several adjacent parameters as one tensor.
  at::Tensor joined(std::initializer_list<const at::Tensor*> masters) const {
    if (!(*masters.begin())->defined()) return {};
    const at::Tensor& first = of(**masters.begin());
    std::vector<std::int64_t> shape = first.sizes().vec(), strides = first.strides().vec();
    const auto* next = static_cast<const cuda::Half*>(first.const_data_ptr());
    shape[0] = 0;
    for (const at::Tensor* master : masters) {
      const at::Tensor& part = of(*master);
      CHECK(part.const_data_ptr() == next, "the flat buffer splits a packed projection");
      next += part.numel();
      shape[0] += part.size(0);
    }
    return at::as_strided(first, shape, strides);
  }

 private:
  const ModelWeights& weights_;
  const std::vector<at::Tensor>& parts_;
};

}  // namespace

bool HalfWeights::serve(const ModelConfig& config) {
  const std::int64_t group = config.num_attention_heads / config.num_key_value_heads;
  const bool has_head_size =
      config.head_dim == 32 || config.head_dim == 64 || config.head_dim == 128;
  // Whole cache lines, so that packed projections have no gaps.
  return cuda::kernels() != nullptr && has_head_size && group <= 16 &&
         config.hidden_size % 16 == 0 && config.hidden_size <= 16384 &&
         config.intermediate_size % 16 == 0;
}

HalfWeights::HalfWeights(const ModelWeights& weights, at::ScalarType type, std::int64_t unit) {
  const at::NoGradGuard no_grad;
  const auto masters = tensors_of(weights.parameters);
  const FlatLayout layout = flat_layout(masters);
  flat_ = at::zeros({(layout.total + unit - 1) / unit * unit},
                    at::TensorOptions(type).device(weights.embedding.device()));
  for (std::size_t i = 0; i < masters.size(); ++i)
    parts_.push_back(
        flat_.narrow(0, layout.offsets[i], masters[i].numel()).view(masters[i].sizes()));
  const Parts parts(weights, parts_);
  for (const LayerWeights& layer : weights.layers)
    layers_.push_back({.qkv = parts.joined({&layer.q, &layer.k, &layer.v}),
                       .qkv_bias = parts.joined({&layer.q_bias, &layer.k_bias, &layer.v_bias}),
                       .o = parts.of(layer.o),
                       .gate_up = parts.joined({&layer.gate, &layer.up}),
                       .down = parts.of(layer.down)});
  head_ = parts.of(weights.head);
  refresh(weights);
}

void HalfWeights::refresh(const ModelWeights& weights) {
  if (!follows_) return;
  const std::int64_t version = version_of(weights);
  if (version == version_) return;
  const at::NoGradGuard no_grad;
  for (std::size_t i = 0; i < parts_.size(); ++i) parts_[i].copy_(weights.parameters[i].tensor);
  version_ = version;
}

}  // namespace tritonsmith::model
