// Transformer: a decoder of the Qwen2, Qwen3 or Llama 3 family over packed sequences. It has GQA,
// RoPE, RMSNorm and SwiGLU, and QKV biases or QK norms as its config says. It owns its weights
// under Hugging Face's names. The trainer's optimizer and the rollout engine work on these same
// tensors.
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

#include "base/enum_names.h"
#include "model/config.h"
#include "model/half_weights.h"
#include "model/packed_batch.h"
#include "model/safetensors.h"
#include "model/sums.h"

namespace tritonsmith::model {

// The weights of one decoder layer. Linear weights are [out, in], as Hugging Face stores them. A
// weight that the family does not have is undefined.
struct LayerWeights {
  at::Tensor input_norm;  // [H]
  // [heads * D, H] and [heads * D]; only Qwen2 has the biases
  at::Tensor q, q_bias, k, k_bias, v, v_bias;
  at::Tensor q_norm, k_norm;  // [D]; only Qwen3
  at::Tensor o;               // [H, heads * D]
  at::Tensor post_norm;       // [H]
  at::Tensor gate, up;        // [I, H]
  at::Tensor down;            // [H, I]
};

// The code that computes a layer. automatic: the fused kernels on a CPU. On a GPU our own kernels,
// if the build has them and they support the shape, else ATen. aten: plain autograd everywhere, as
// the reference of the tests.
enum class LayerPath { automatic, aten };

// The 16-bit type of weights and activations on a GPU. Gradients are bfloat16 in both cases.
// float16 rounds eight times finer, so trainer and engine, whose sums have different orders, agree
// better (docs/gpu.md). bfloat16 is for models whose activations exceed the range of float16
// (65504).
enum class Precision { float16, bfloat16 };

// The activations of a layer that a GPU keeps for the backward. `nothing`: it keeps all of them and
// recomputes nothing. `layers`: it keeps the input and recomputes the rest, at a third more work
// for a tenth of the memory. The results are the same.
enum class Recompute { nothing, layers };

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
  // whether or not its sequence shares its beginning. Logits are never stored: see
  // linear_logprob.h.
  at::Tensor forward(const PackedBatch& batch) const;

  const ModelConfig& config() const { return config_; }
  c10::Device device() const { return device_; }
  // In the order of the file; each is a leaf that requires a gradient. A tied head is listed once,
  // as the embedding.
  const std::vector<NamedTensor>& parameters() const { return parameters_; }
  const at::Tensor& embedding() const { return embedding_; }  // [V, H]
  const at::Tensor& head_weight() const { return head_; }  // [V, H]; the embedding itself if tied
  const at::Tensor& final_norm() const { return final_norm_; }  // [H]
  const std::vector<LayerWeights>& layers() const { return layers_; }

  // Returns a copy without gradients, for example the reference of a KL term.
  Transformer frozen_copy() const;
  void set_layer_path(LayerPath path) { path_ = path; }
  void set_recompute(Recompute recompute) { recompute_ = recompute; }
  Precision precision() const { return precision_; }
  // Must be called before half_weights(), because engines keep its result.
  void set_precision(Precision precision);
  Sums sums() const { return sums_; }
  // For a GPU. An engine uses the setting at the time of its construction.
  void set_sums(Sums sums) { sums_ = sums; }

  // The 16-bit weights for our own CUDA kernels, up to date with the masters. Null if the kernels
  // do not support this model. Code that changes masters without LibTorch's version counter must
  // write this copy too.
  HalfWeights* half_weights() const;
  // Makes the 16-bit copy the model's own weights. The masters then live elsewhere, except for
  // those that are used as float32 (whole_masters()). The buffer's length is a multiple of `unit`.
  // Must be called before half_weights(). Null if the kernels do not support this model.
  HalfWeights* keep_half_weights(std::int64_t unit);
  // Returns the embedding, head, norms and biases.
  std::vector<at::Tensor> whole_masters() const;

 private:
  at::Tensor add(std::string name, std::vector<std::int64_t> shape);
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
  std::vector<NamedTensor> parameters_;
  at::Tensor embedding_, head_, final_norm_;
  std::vector<LayerWeights> layers_;
};

}  // namespace tritonsmith::model

namespace tritonsmith {
template <>
inline constexpr auto enum_names<model::Recompute> = names<model::Recompute>(
    {{model::Recompute::nothing, "nothing"}, {model::Recompute::layers, "layers"}});
template <>
inline constexpr auto enum_names<model::Precision> = names<model::Precision>(
    {{model::Precision::float16, "float16"}, {model::Precision::bfloat16, "bfloat16"}});
}  // namespace tritonsmith
