// The decoder layer over our own CUDA kernels, cuBLASLt and LibTorch's FlashAttention: forward and
// backward written out, one autograd node a layer. The residual stream is float32 and products add
// to it directly; everything else has 16 bits, those of the weights on the way forward, bfloat16 on
// the way back. Gradients of weights are added to the masters'
// .grad() in place, in float32, and never pass through autograd, so a backward must be run once, by
// backward().
#pragma once

#include <memory>
#include <optional>

#include "model/aten_layer.h"
#include "model/cublas.h"
#include "model/cuda_attention.h"
#include "model/half_weights.h"
#include "model/linear_logprob.h"
#include "model/transformer.h"

namespace tritonsmith::model {

// What the layers of one forward share.
struct CudaBatch {
  at::Tensor offsets;        // [B + 1] int32
  at::Tensor positions;      // [T] int32
  RopeTable rope;            // float32 rows by position
  std::int64_t longest = 0;  // rows of a sequence
  bool is_even = false;      // all sequences are as long as the longest
  Sums sums = Sums::fast;
  std::optional<SharedRows> shared;  // where sequences share their beginnings
};
std::shared_ptr<const CudaBatch> make_cuda_batch(const PackedBatch& batch, RopeTable rope,
                                                 Sums sums = Sums::fast);

// A layer's masters and their 16-bit copy, which says what the layer computes in.
struct CudaLayerWeights {
  const LayerWeights* masters = nullptr;
  const HalfLayer* half = nullptr;
};

// Where new keys and values go while prompts are read; by default nowhere.
struct CacheTarget {
  at::Tensor slots;  // [T] int32
  cuda::PagedCache cache{};
  // Of the batch's only sequence, where its rows are its last ones: those before them, [K,
  // kv_heads, D]. The batch's `shared` then names all rows in their order.
  at::Tensor earlier_keys, earlier_values;
};

// Without gradients. x is [T, H] float32 and changed in place.
void cuda_layer_inference(const at::Tensor& x, const CudaLayerWeights& weights,
                          const ModelConfig& config, const CudaBatch& batch, Cublas& cublas,
                          const CacheTarget& target = {});

cuda::HalfType half_type_of(const at::Tensor& tensor);

// The gated product of an MLP is kept as this share of itself: of all activations it alone comes
// near the end of float16's range.
double inner_share(c10::ScalarType type);

// Differentiable in x and in the masters.
at::Tensor cuda_layer(const at::Tensor& x, const CudaLayerWeights& weights,
                      const ModelConfig& config, std::shared_ptr<const CudaBatch> batch,
                      Recompute recompute);

// Rows of the float32 table, [T, H]; their gradient is added to the table's in place.
at::Tensor cuda_embedding(const at::Tensor& table, const at::Tensor& tokens);

// 16-bit rows of float32 ones. Those of float16 come as float32, so that their gradient, which
// autograd gives the same type, keeps its range.
at::Tensor cuda_rms_norm(const at::Tensor& x, const at::Tensor& weight, double eps,
                         c10::ScalarType type);

// In bfloat16 where `hidden` is, in float16 where it is float32.
LogprobAndEntropy cuda_linear_logprob(const at::Tensor& hidden, const at::Tensor& head_weight,
                                      const at::Tensor& targets, double temperature);

// For layers and head of training: of the thread that runs forward and backward.
Cublas& training_cublas(c10::Device device, Sums sums = Sums::fast);

// The gradient buffer of a leaf, made (of zeros) where there is none.
at::Tensor& gradient_of(const at::Tensor& leaf);

}  // namespace tritonsmith::model
