// Computes the decoder layer by our own CUDA kernels, cuBLASLt and LibTorch's FlashAttention.
// Forward and backward are written out, and a layer is one autograd node. The residual stream is
// float32, and products add to it directly. All other data has 16 bits: the weights' type in the
// forward, bfloat16 in the backward.
//
// Gradients of weights are added in place to the masters' .grad() in float32. They never pass
// through autograd, so a backward must run exactly once, by backward().
#pragma once

#include <memory>
#include <optional>

#include "model/config/execution.h"
#include "model/cublas/cublas.h"
#include "model/layers/aten_layer.h"
#include "model/layers/cuda_attention.h"
#include "model/layers/linear_logprob.h"
#include "model/weights/half_weights.h"

namespace tritonsmith::model {

// The data that all layers of one forward share.
struct CudaBatch {
  at::Tensor offsets;        // [B + 1] int32
  at::Tensor positions;      // [T] int32
  RopeTable rope;            // float32 rows by position
  std::int64_t longest = 0;  // rows of the longest sequence
  bool is_even = false;      // all sequences have the length `longest`
  Sums sums = Sums::fast;
  std::optional<SharedRows> shared;  // set if sequences share their prefixes
};
std::shared_ptr<const CudaBatch> make_cuda_batch(const PackedBatch& batch, RopeTable rope,
                                                 Sums sums = Sums::fast);

// A layer's masters and their 16-bit copy. The copy decides the type of the computation.
struct CudaLayerWeights {
  const LayerWeights* masters = nullptr;
  const HalfLayer* half = nullptr;
};

// The slots of new keys and values while prompts are read. By default they are not stored.
struct CacheTarget {
  at::Tensor slots;  // [T] int32
  cuda::PagedCache cache{};
  // For a batch of one sequence whose rows are the sequence's last ones: the keys and values before
  // them, [K, kv_heads, D]. The batch's `shared` then names all rows in their order.
  at::Tensor earlier_keys, earlier_values;
};

// Computes without gradients. x is [T, H] float32 and is changed in place.
void cuda_layer_inference(const at::Tensor& x, const CudaLayerWeights& weights,
                          const ModelConfig& config, const CudaBatch& batch, Cublas& cublas,
                          const CacheTarget& target = {});

cuda::HalfType half_type_of(const at::Tensor& tensor);

// The factor by which the MLP's gated product is stored. It is the only activation that comes near
// the end of float16's range.
double inner_share(c10::ScalarType type);

// Differentiable in x and in the masters.
at::Tensor cuda_layer(const at::Tensor& x, const CudaLayerWeights& weights,
                      const ModelConfig& config, std::shared_ptr<const CudaBatch> batch,
                      Recompute recompute);

// Returns rows of the float32 table, [T, H]. Their gradient is added to the table's gradient in
// place.
at::Tensor cuda_embedding(const at::Tensor& table, const at::Tensor& tokens);

// Returns 16-bit rows of float32 rows. Rows rounded to float16 are returned as float32. Autograd
// then gives their gradient that type too, which keeps its range.
at::Tensor cuda_rms_norm(const at::Tensor& x, const at::Tensor& weight, double eps,
                         c10::ScalarType type);

// Computes in bfloat16 if `hidden` is bfloat16, and in float16 if it is float32.
LogprobAndEntropy cuda_linear_logprob(const at::Tensor& hidden, const at::Tensor& head_weight,
                                      const at::Tensor& targets, double temperature);

// For the layers and the head in training. It belongs to the thread that runs forward and backward.
Cublas& training_cublas(c10::Device device, Sums sums = Sums::fast);

// Returns the gradient buffer of a leaf. It is made of zeros if the leaf has none.
at::Tensor& gradient_of(const at::Tensor& leaf);

}  // namespace tritonsmith::model
