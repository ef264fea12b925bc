// Transformer: a decoder of the Qwen2, Qwen3 or Llama 3 family over packed sequences. It has GQA,
// RoPE, RMSNorm and SwiGLU, and QKV biases or QK norms as its config says. It owns its weights
// (weights/model_weights.h).
//
// Masters are float32 (float64 in tests). On a GPU the layers compute in 16 bits (Precision), on a
// CPU in the weights' type. One thread at a time runs forward and backward. On a CPU equal inputs
// give equal bits in forward and backward, on every run and for every number of threads.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "model/batch/packed_batch.h"
#include "model/config/config.h"
#include "model/config/execution.h"
#include "model/config/sums.h"
#include "model/layers/head_gradient.h"
#include "model/weights/half_weights.h"
#include "model/weights/model_weights.h"

namespace tritonsmith::model {

c10::ScalarType type_of(Precision precision);

class Transformer {
 public:
  // Makes new weights: normally distributed with initializer_range, zero biases, unit norms. They
  // depend on (config, seed) alone.
  static Transformer random(const ModelConfig& config, std::uint64_t seed,
                            c10::Device device = c10::kCPU);
  // Allocates weights without initialising them. The caller must fill parameters().
  Transformer(const ModelConfig& config, c10::Device device, c10::ScalarType dtype = c10::kFloat);

  // Returns hidden states after the final norm, [T, hidden_size] for the batch's rows. They are
  // differentiable in the parameters unless gradients are off. On a CPU a row has the same bits
  // whether or not its sequence shares its prefix. Logits are never stored: see
  // linear_logprob.h.
  at::Tensor forward(const PackedBatch& batch) const;

  const ModelConfig& config() const { return config_; }
  c10::Device device() const { return device_; }
  // Returns the parameters in the order of the file. Each is a leaf that requires a gradient. A
  // tied head appears once, as the embedding.
  const std::vector<NamedTensor>& parameters() const { return weights_.parameters; }
  const at::Tensor& embedding() const { return weights_.embedding; }  // [V, H]
  // [V, H]; the embedding itself if tied
  const at::Tensor& head_weight() const { return weights_.head; }
  const at::Tensor& final_norm() const { return weights_.final_norm; }  // [H]
  const std::vector<LayerWeights>& layers() const { return weights_.layers; }

  // Returns a copy without gradients, for example the reference of a KL term.
  Transformer frozen_copy() const;
  void set_layer_path(LayerPath path) { path_ = path; }
  void set_recompute(Recompute recompute) { recompute_ = recompute; }
  Precision precision() const { return precision_; }
  // Aborts after half_weights(), because engines keep its result.
  void set_precision(Precision precision);
  Sums sums() const { return sums_; }
  // For a GPU. An engine uses the setting at the time of its construction.
  void set_sums(Sums sums) { sums_ = sums; }

  // The 16-bit weights for our own CUDA kernels, up to date with the masters. Null if the kernels
  // do not support this model. Code that changes masters without LibTorch's version counter must
  // write this copy too.
  HalfWeights* half_weights() const;
  // The head for head_gradient(), with its 16-bit copy up to date. It has no copy if
  // half_weights() is null.
  HeadWeights head() const;
  // From now on the model keeps its weights in 16 bits, and only those masters that it computes
  // with (whole_masters()). The caller must keep the other masters. The length of the 16-bit buffer
  // is a multiple of `unit`. Aborts after half_weights(). Returns null if the kernels do
  // not support this model.
  HalfWeights* keep_half_weights(std::int64_t unit);
  // Returns the embedding, head, norms and biases.
  std::vector<at::Tensor> whole_masters() const;

 private:
  void check_batch(const PackedBatch& batch) const;
  at::Tensor forward_cuda(const PackedBatch& batch, const HalfWeights& half) const;

  ModelConfig config_;
  c10::Device device_;
  c10::ScalarType dtype_;
  LayerPath path_ = LayerPath::automatic;
  Recompute recompute_ = Recompute::nothing;
  Precision precision_ = Precision::float16;
  Sums sums_ = Sums::fast;
  mutable std::shared_ptr<HalfWeights> half_;
  ModelWeights weights_;
};

}  // namespace tritonsmith::model
