// Transformer: a decoder of the Qwen2, Qwen3 or Llama 3 family (GQA, RoPE, RMSNorm, SwiGLU; QKV
// bias or QK norm as its config says) over packed sequences. It owns its weights, under Hugging
// Face's names; the trainer's optimizer and the rollout engine work on these very tensors. Master
// weights are float32 (float64 in tests); on a GPU the layers compute in 16 bits (Precision), on a
// CPU in the weights' own type. One thread runs forward and backward at a time. On a CPU the same
// inputs give the same bits, forward and backward, on every run and for every number of threads.
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

// The weights of one decoder layer: linear ones are [out, in], as Hugging Face stores them. What a
// family does not have is undefined.
struct LayerWeights {
  at::Tensor input_norm;                       // [H]
  at::Tensor q, q_bias, k, k_bias, v, v_bias;  // [heads * D, H] and [heads * D]; biases in Qwen2
  at::Tensor q_norm, k_norm;                   // [D]; Qwen3
  at::Tensor o;                                // [H, heads * D]
  at::Tensor post_norm;                        // [H]
  at::Tensor gate, up;                         // [I, H]
  at::Tensor down;                             // [H, I]
};

// Which code computes a layer: `automatic` takes the fused kernels on a CPU, our own kernels on a
// GPU where the build has them and they serve the shape, and ATen elsewhere;
// `aten` is plain autograd everywhere, the oracle of the tests.
enum class LayerPath { automatic, aten };

// The 16 bits of weights and activations on a GPU; gradients are bfloat16 either way. float16
// rounds eight times finer, so that trainer and engine, which sum in other orders, agree the better
// (docs/gpu.md); bfloat16 is for models whose activations leave the range of float16 (65504).
enum class Precision { float16, bfloat16 };

// What a GPU keeps of a layer for the backward: all of it, or only its input, from which the rest
// is computed again (a third more work for a tenth of the memory). The numbers are the same.
enum class Recompute { nothing, layers };

c10::ScalarType type_of(Precision precision);

class Transformer {
 public:
  // Fresh weights: normal with initializer_range, zero biases, unit norms; a function of (config,
  // seed) alone.
  static Transformer random(const ModelConfig& config, std::uint64_t seed,
                            c10::Device device = c10::kCPU);
  // Weights are allocated and hold nothing sensible yet: who calls this fills parameters().
  Transformer(const ModelConfig& config, c10::Device device, c10::ScalarType dtype = c10::kFloat);

  // Hidden states after the final norm, [T, hidden_size] of the batch's rows, differentiable in the
  // parameters unless gradients are off. A row is the same to the bit on a CPU, whether its
  // sequence shares its beginning with others or stands alone. Logits are never made here: see
  // linear_logprob.h.
  at::Tensor forward(const PackedBatch& batch) const;

  const ModelConfig& config() const { return config_; }
  c10::Device device() const { return device_; }
  // In a fixed order (that of the file), each a leaf that requires a gradient. A tied head is
  // listed once, as the embedding.
  const std::vector<NamedTensor>& parameters() const { return parameters_; }
  const at::Tensor& embedding() const { return embedding_; }  // [V, H]
  const at::Tensor& head_weight() const { return head_; }  // [V, H]; the embedding itself when tied
  const at::Tensor& final_norm() const { return final_norm_; }  // [H]
  const std::vector<LayerWeights>& layers() const { return layers_; }

  // A frozen copy (the reference of a KL term): same values, no gradients.
  Transformer frozen_copy() const;
  void set_layer_path(LayerPath path) { path_ = path; }
  void set_recompute(Recompute recompute) { recompute_ = recompute; }
  Precision precision() const { return precision_; }
  // Before half_weights() is called: engines keep what it gives.
  void set_precision(Precision precision);
  Sums sums() const { return sums_; }
  // On a GPU. An engine keeps what it finds when it is made.
  void set_sums(Sums sums) { sums_ = sums; }

  // What our own CUDA kernels compute with, true to the masters as they are now; null where they
  // do not serve this model. Who writes masters past LibTorch's sight writes the copy as well.
  HalfWeights* half_weights() const;
  // The same, to be the model's own weights from here on, of which the masters are elsewhere; but
  // for those that are computed with as float32 (whole_masters()). Its length is a multiple of
  // `unit`. Before half_weights() is called; null likewise.
  HalfWeights* keep_half_weights(std::int64_t unit);
  // Embedding, head, norms and biases.
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
