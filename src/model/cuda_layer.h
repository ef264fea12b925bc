// The decoder layer over our own CUDA kernels, cuBLASLt and LibTorch's FlashAttention: forward and
// backward written out, one autograd node a layer. The residual stream is float32 and products add
// to it directly; everything else is bfloat16. Gradients of weights are added to the masters'
// .grad() in place, in float32, and never pass through autograd, so a backward must be run once, by
// backward().
#pragma once

#include <memory>

#include "model/aten_layer.h"
#include "model/cublas.h"
#include "model/half_weights.h"
#include "model/linear_logprob.h"
#include "model/transformer.h"

namespace tritonsmith::model {

// What the layers of one forward share.
struct CudaBatch {
  at::Tensor offsets;    // [B + 1] int32
  at::Tensor positions;  // [T] int32
  RopeTable rope;        // float32 rows by position
  std::int64_t longest = 0;
};
std::shared_ptr<const CudaBatch> make_cuda_batch(const PackedBatch& batch, RopeTable rope);

// A layer's masters and their bfloat16 copy.
struct CudaLayerWeights {
  const LayerWeights* masters = nullptr;
  const HalfLayer* half = nullptr;
};

// Where new keys and values go while prompts are read; by default nowhere.
struct CacheTarget {
  at::Tensor slots;  // [T] int32
  cuda::PagedCache cache{};
};

// Without gradients. x is [T, H] float32 and changed in place.
void cuda_layer_inference(const at::Tensor& x, const CudaLayerWeights& weights,
                          const ModelConfig& config, const CudaBatch& batch, Cublas& cublas,
                          const CacheTarget& target = {});

// Differentiable in x and in the masters.
at::Tensor cuda_layer(const at::Tensor& x, const CudaLayerWeights& weights,
                      const ModelConfig& config, std::shared_ptr<const CudaBatch> batch,
                      Recompute recompute);

// bfloat16 rows of float32 ones.
at::Tensor cuda_rms_norm(const at::Tensor& x, const at::Tensor& weight, double eps);

LogprobAndEntropy cuda_linear_logprob(const at::Tensor& hidden, const at::Tensor& head_weight,
                                      const at::Tensor& targets, double temperature);

// For layers and head of training: of the thread that runs forward and backward.
Cublas& training_cublas(c10::Device device);

// The gradient buffer of a leaf, made (of zeros) where there is none.
at::Tensor& gradient_of(const at::Tensor& leaf);

}  // namespace tritonsmith::model
