// RMSNorm over float32 rows, forward and backward.
#include "model/cuda/common.cuh"
#include "model/cuda/launches.h"

namespace tritonsmith::model::cuda {
namespace {

constexpr int kThreads = 256;

__device__ float reciprocal_rms(const float4* x, int quads, float eps, float* scratch) {
  float squares = 0;
  for (int i = threadIdx.x; i < quads; i += kThreads) {
    const float4 v = x[i];
    squares += v.x * v.x + v.y * v.y + v.z * v.z + v.w * v.w;
  }
  return rsqrtf(block_sum(squares, scratch) / static_cast<float>(4 * quads) + eps);
}

template <typename T>
__global__ void __launch_bounds__(kThreads) norm_kernel(Norm a) {
  __shared__ float scratch[33];
  const int quads = a.hidden / 4;
  const auto* x = reinterpret_cast<const float4*>(a.x) + blockIdx.x * std::int64_t{quads};
  const auto* weight = reinterpret_cast<const float4*>(a.weight);
  auto* out = reinterpret_cast<uint2*>(a.out) + blockIdx.x * std::int64_t{quads};
  const float rstd = reciprocal_rms(x, quads, a.eps, scratch);
  for (int i = threadIdx.x; i < quads; i += kThreads) {
    const float4 v = x[i], w = weight[i];
    out[i] = make_uint2(T::pack(v.x * rstd * w.x, v.y * rstd * w.y),
                        T::pack(v.z * rstd * w.z, v.w * rstd * w.w));
  }
}

__device__ float4 read_bf16(const uint2* from) {
  const uint2 pair = *from;
  return make_float4(low_bf16(pair.x), high_bf16(pair.x), low_bf16(pair.y), high_bf16(pair.y));
}

// A block takes every kNormParts-th row and keeps its columns of d_weight in registers.
template <int kQuads>
__global__ void __launch_bounds__(kThreads) norm_backward_kernel(NormBackward a) {
  __shared__ float scratch[33];
  const int quads = a.hidden / 4;
  const auto* weight = reinterpret_cast<const float4*>(a.weight);
  float4 d_weight[kQuads] = {};
  for (std::int64_t row = blockIdx.x; row < a.rows; row += gridDim.x) {
    const std::int64_t begin = row * quads;
    const auto* x = reinterpret_cast<const float4*>(a.x) + begin;
    const auto* d_out = reinterpret_cast<const uint2*>(a.d_out) + begin;
    const float rstd = reciprocal_rms(x, quads, a.eps, scratch);
    float dot = 0;
    for (int i = threadIdx.x; i < quads; i += kThreads) {
      const float4 v = x[i], w = weight[i], d = read_bf16(d_out + i);
      dot += v.x * w.x * d.x + v.y * w.y * d.y + v.z * w.z * d.z + v.w * w.w * d.w;
    }
    const float mean = block_sum(dot, scratch) * rstd * rstd / static_cast<float>(a.hidden);
#pragma unroll
    for (int k = 0; k < kQuads; ++k) {
      const int i = threadIdx.x + k * kThreads;
      if (i >= quads) break;
      const float4 v = x[i], w = weight[i], d = read_bf16(d_out + i);
      float4 r = make_float4(rstd * (d.x * w.x - v.x * mean), rstd * (d.y * w.y - v.y * mean),
                             rstd * (d.z * w.z - v.z * mean), rstd * (d.w * w.w - v.w * mean));
      if (a.d_residual != nullptr) {
        const float4 add = reinterpret_cast<const float4*>(a.d_residual)[begin + i];
        r.x += add.x, r.y += add.y, r.z += add.z, r.w += add.w;
      }
      reinterpret_cast<float4*>(a.d_x)[begin + i] = r;
      if (a.d_x_half != nullptr)
        reinterpret_cast<uint2*>(a.d_x_half)[begin + i] =
            make_uint2(pack_bf16(r.x, r.y), pack_bf16(r.z, r.w));
      d_weight[k].x += d.x * v.x * rstd, d_weight[k].y += d.y * v.y * rstd;
      d_weight[k].z += d.z * v.z * rstd, d_weight[k].w += d.w * v.w * rstd;
    }
  }
  auto* part = reinterpret_cast<float4*>(a.partials) + blockIdx.x * std::int64_t{quads};
#pragma unroll
  for (int k = 0; k < kQuads; ++k) {
    const int i = threadIdx.x + k * kThreads;
    if (i < quads) part[i] = d_weight[k];
  }
}

__global__ void add_partials_kernel(const float* partials, int parts, int hidden, float* total) {
  const int column = blockIdx.x * blockDim.x + threadIdx.x;
  if (column >= hidden) return;
  float sum = 0;
  for (int part = 0; part < parts; ++part) sum += partials[std::int64_t{part} * hidden + column];
  total[column] += sum;
}

}  // namespace

void launch_norm(const Norm& a, Stream stream) {
  if (a.rows == 0) return;
  with_type(a.type, [&]<typename T>(T) {
    norm_kernel<T><<<static_cast<unsigned>(a.rows), kThreads, 0, stream_of(stream)>>>(a);
  });
}

void launch_norm_backward(const NormBackward& a, Stream stream) {
  if (a.rows == 0) return;
  const int parts = a.rows < kNormParts ? static_cast<int>(a.rows) : kNormParts;
  const int needed = (a.hidden / 4 + kThreads - 1) / kThreads;
  const auto launch = [&](auto kernel) { kernel<<<parts, kThreads, 0, stream_of(stream)>>>(a); };
  if (needed <= 1)
    launch(norm_backward_kernel<1>);
  else if (needed <= 2)
    launch(norm_backward_kernel<2>);
  else if (needed <= 4)
    launch(norm_backward_kernel<4>);
  else if (needed <= 8)
    launch(norm_backward_kernel<8>);
  else
    launch(norm_backward_kernel<16>);
  add_partials_kernel<<<(a.hidden + 127) / 128, 128, 0, stream_of(stream)>>>(a.partials, parts,
                                                                             a.hidden, a.d_weight);
}

}  // namespace tritonsmith::model::cuda
