// RMSNorm over float32 rows, forward and backward.
#include "model/cuda/common.cuh"
#include "model/cuda/launches.h"

namespace tritonsmith::model::cuda {
namespace {

constexpr int kThreads = 256;

// The rounding is explicit, so that the bits are the same in every kernel.
__device__ float add_squares(float sum, const float4& v) {
  sum = __fmaf_rn(v.x, v.x, sum), sum = __fmaf_rn(v.y, v.y, sum);
  return __fmaf_rn(v.w, v.w, __fmaf_rn(v.z, v.z, sum));
}

__device__ float reciprocal_rms(float squares, int quads, float eps, float* scratch) {
  return rsqrtf(block_sum(squares, scratch) / static_cast<float>(4 * quads) + eps);
}

__device__ void add(float4& sum, const float4& part) {
  sum = make_float4(__fadd_rn(sum.x, part.x), __fadd_rn(sum.y, part.y), __fadd_rn(sum.z, part.z),
                    __fadd_rn(sum.w, part.w));
}

// All data is read at once. A row takes the time of reading memory once and of one sum.
template <typename T, int kQuads, int kParts>
__global__ void __launch_bounds__(kThreads) norm_kernel(Norm a) {
  __shared__ float scratch[33];
  const int quads = a.hidden / 4;
  const std::int64_t begin = blockIdx.x * std::int64_t{quads};
  auto* x = reinterpret_cast<float4*>(a.x) + begin;
  const auto* weight = reinterpret_cast<const float4*>(a.weight);
  auto* out = reinterpret_cast<uint2*>(a.out) + begin;
  float4 v[kQuads], w[kQuads];
  float squares = 0;
#pragma unroll
  for (int k = 0; k < kQuads; ++k) {
    const int i = threadIdx.x + k * kThreads;
    if (i >= quads) break;
    v[k] = x[i], w[k] = weight[i];
    float4 part[kParts > 0 ? kParts : 1];
#pragma unroll
    for (int p = 0; p < kParts; ++p)
      part[p] = reinterpret_cast<const float4*>(a.parts + p * a.part_step)[begin + i];
#pragma unroll
    for (int p = 0; p < kParts; ++p) add(v[k], part[p]);
  }
#pragma unroll
  for (int k = 0; k < kQuads && threadIdx.x + k * kThreads < quads; ++k)
    squares = add_squares(squares, v[k]);
  const float rstd = reciprocal_rms(squares, quads, a.eps, scratch);
#pragma unroll
  for (int k = 0; k < kQuads; ++k) {
    const int i = threadIdx.x + k * kThreads;
    if (i >= quads) break;
    if (kParts > 0) x[i] = v[k];
    out[i] = make_uint2(T::pack(v[k].x * rstd * w[k].x, v[k].y * rstd * w[k].y),
                        T::pack(v[k].z * rstd * w[k].z, v[k].w * rstd * w[k].w));
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
    float squares = 0;
    for (int i = threadIdx.x; i < quads; i += kThreads) squares = add_squares(squares, x[i]);
    const float rstd = reciprocal_rms(squares, quads, a.eps, scratch);
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

// Calls launch<quads for each thread>().
template <typename Launch>
void with_quads(int hidden, const Launch& launch) {
  const int needed = (hidden / 4 + kThreads - 1) / kThreads;
  if (needed <= 1)
    launch.template operator()<1>();
  else if (needed <= 2)
    launch.template operator()<2>();
  else if (needed <= 4)
    launch.template operator()<4>();
  else if (needed <= 8)
    launch.template operator()<8>();
  else
    launch.template operator()<16>();
}

}  // namespace

void launch_norm(const Norm& a, Stream stream) {
  if (a.rows == 0) return;
  const auto rows = static_cast<unsigned>(a.rows);
  const auto launch = [&](auto kernel) { kernel<<<rows, kThreads, 0, stream_of(stream)>>>(a); };
  with_type(a.type, [&]<typename T>(T) {
    with_quads(a.hidden, [&]<int kQuads>() {
      if (a.part_count == 4)
        launch(norm_kernel<T, kQuads, 4>);
      else if (a.part_count == 2)
        launch(norm_kernel<T, kQuads, 2>);
      else
        launch(norm_kernel<T, kQuads, 0>);
    });
  });
}

void launch_norm_backward(const NormBackward& a, Stream stream) {
  if (a.rows == 0) return;
  const int parts = a.rows < kNormParts ? static_cast<int>(a.rows) : kNormParts;
  with_quads(a.hidden, [&]<int kQuads>() {
    norm_backward_kernel<kQuads><<<parts, kThreads, 0, stream_of(stream)>>>(a);
  });
  add_partials_kernel<<<(a.hidden + 127) / 128, 128, 0, stream_of(stream)>>>(a.partials, parts,
                                                                             a.hidden, a.d_weight);
}

}  // namespace tritonsmith::model::cuda
