// Shared code of the kernels: conversion of 16-bit numbers, and sums over a warp or a block.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <cstdint>

#include "model/cuda/kernels.h"

namespace tritonsmith::model::cuda {

inline cudaStream_t stream_of(Stream stream) { return static_cast<cudaStream_t>(stream); }

__device__ inline float to_float(Bf16 bits) {
  return __uint_as_float(static_cast<unsigned>(bits) << 16);
}
// Rounds to nearest even, as LibTorch does.
__device__ inline Bf16 to_bf16(float value) {
  return __bfloat16_as_ushort(__float2bfloat16_rn(value));
}
__device__ inline unsigned pack_bf16(float low, float high) {
  return static_cast<unsigned>(to_bf16(low)) | static_cast<unsigned>(to_bf16(high)) << 16;
}
__device__ inline float low_bf16(unsigned pair) { return __uint_as_float(pair << 16); }
__device__ inline float high_bf16(unsigned pair) { return __uint_as_float(pair & 0xffff0000u); }

// The two types of 16-bit numbers, for kernels that serve both.
struct AsBf16 {
  static __device__ float to_float(Half bits) { return cuda::to_float(bits); }
  static __device__ Half from_float(float value) { return to_bf16(value); }
  static __device__ unsigned pack(float low, float high) { return pack_bf16(low, high); }
  static __device__ float low(unsigned pair) { return low_bf16(pair); }
  static __device__ float high(unsigned pair) { return high_bf16(pair); }
};
struct AsFp16 {
  static __device__ float to_float(Half bits) { return __half2float(__ushort_as_half(bits)); }
  // Values beyond 65504 become infinite, which the caller detects.
  static __device__ Half from_float(float value) {
    return __half_as_ushort(__float2half_rn(value));
  }
  static __device__ unsigned pack(float low, float high) {
    return static_cast<unsigned>(from_float(low)) | static_cast<unsigned>(from_float(high)) << 16;
  }
  static __device__ float low(unsigned pair) { return to_float(static_cast<Half>(pair)); }
  static __device__ float high(unsigned pair) { return to_float(static_cast<Half>(pair >> 16)); }
};
template <typename Launch>
void with_type(HalfType type, const Launch& launch) {
  type == HalfType::float16 ? launch(AsFp16{}) : launch(AsBf16{});
}
// Calls launch<type, head size>() if head_dim is one of kSizes.
template <int... kSizes, typename Launch>
void with_head(HalfType type, int head_dim, const Launch& launch) {
  with_type(type, [&]<typename T>(T) {
    static_cast<void>(
        ((head_dim == kSizes && (launch.template operator()<T, kSizes>(), true)) || ...));
  });
}

// Launches a kernel with more shared memory than a block gets by default. If the GPU has less,
// every launch fails and last_error reports it. A process calls this for one GPU only.
template <auto kKernel, int kBytes, typename Arguments>
void launch_with_memory(dim3 grid, int threads, const Arguments& a, cudaStream_t stream) {
  [[maybe_unused]] static const cudaError_t raised =
      cudaFuncSetAttribute(kKernel, cudaFuncAttributeMaxDynamicSharedMemorySize, kBytes);
  kKernel<<<grid, threads, kBytes, stream>>>(a);
}

__device__ inline float warp_sum(float value) {
  for (int offset = 16; offset > 0; offset /= 2)
    value += __shfl_xor_sync(0xffffffffu, value, offset);
  return value;
}

// Returns the sum over all threads of the block in every thread. `scratch` has 33 floats.
__device__ inline float block_sum(float value, float* scratch) {
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, warps = (blockDim.x + 31) / 32;
  value = warp_sum(value);
  __syncthreads();  // the last use of scratch has ended
  if (lane == 0) scratch[warp] = value;
  __syncthreads();
  if (warp == 0) {
    const float total = warp_sum(lane < warps ? scratch[lane] : 0.0f);
    if (lane == 0) scratch[32] = total;
  }
  __syncthreads();
  return scratch[32];
}

}  // namespace tritonsmith::model::cuda
