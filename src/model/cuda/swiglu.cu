// SwiGLU on the packed outputs of the gate and up projections, eight elements a thread.
#include "model/cuda/common.cuh"
#include "model/cuda/launches.h"

namespace tritonsmith::model::cuda {
namespace {

constexpr int kThreads = 256;

struct Place {
  std::int64_t row;
  int column;  // in groups of eight
};

// The group of eight elements of [tokens, inner] that this thread has; row -1: none.
__device__ Place place_of(std::int64_t tokens, int inner) {
  const std::int64_t item = std::int64_t{blockIdx.x} * kThreads + threadIdx.x;
  const int groups = inner / 8;
  if (item >= tokens * groups) return {-1, 0};
  return {item / groups, static_cast<int>(item % groups)};
}

__device__ float sigmoid(float x) { return 1.0f / (1.0f + __expf(-x)); }

__device__ float element(const uint4& group, int i) {
  const unsigned pair = i < 2 ? group.x : i < 4 ? group.y : i < 6 ? group.z : group.w;
  return i % 2 == 0 ? low_bf16(pair) : high_bf16(pair);
}

__device__ uint4 packed(const float (&v)[8]) {
  return make_uint4(pack_bf16(v[0], v[1]), pack_bf16(v[2], v[3]), pack_bf16(v[4], v[5]),
                    pack_bf16(v[6], v[7]));
}

__global__ void __launch_bounds__(kThreads) swiglu_kernel(SwiGlu a) {
  const auto [row, column] = place_of(a.tokens, a.inner);
  if (row < 0) return;
  const int groups = a.inner / 8;
  const auto* gates = reinterpret_cast<const uint4*>(a.gate_up) + row * 2 * groups + column;
  const uint4 gate = gates[0], up = gates[groups];
  float out[8];
#pragma unroll
  for (int i = 0; i < 8; ++i) {
    const float g = element(gate, i);
    out[i] = g * sigmoid(g) * element(up, i);
  }
  reinterpret_cast<uint4*>(a.out)[row * groups + column] = packed(out);
}

__global__ void __launch_bounds__(kThreads) swiglu_backward_kernel(SwiGluBackward a) {
  const auto [row, column] = place_of(a.tokens, a.inner);
  if (row < 0) return;
  const int groups = a.inner / 8;
  auto* gates = reinterpret_cast<uint4*>(a.gate_up) + row * 2 * groups + column;
  auto* d_out = reinterpret_cast<uint4*>(a.d_out) + row * groups + column;
  const uint4 gate = gates[0], up = gates[groups], d = *d_out;
  float out[8], d_gate[8], d_up[8];
#pragma unroll
  for (int i = 0; i < 8; ++i) {
    const float g = element(gate, i), u = element(up, i), s = sigmoid(g);
    const float silu = g * s;
    out[i] = silu * u;
    d_up[i] = element(d, i) * silu;
    d_gate[i] = element(d, i) * u * (s + silu * (1.0f - s));
  }
  gates[0] = packed(d_gate);
  gates[groups] = packed(d_up);
  *d_out = packed(out);
}

unsigned blocks_for(std::int64_t tokens, int inner) {
  return static_cast<unsigned>((tokens * (inner / 8) + kThreads - 1) / kThreads);
}

}  // namespace

void launch_swiglu(const SwiGlu& a, Stream stream) {
  if (a.tokens == 0) return;
  swiglu_kernel<<<blocks_for(a.tokens, a.inner), kThreads, 0, stream_of(stream)>>>(a);
}

void launch_swiglu_backward(const SwiGluBackward& a, Stream stream) {
  if (a.tokens == 0) return;
  swiglu_backward_kernel<<<blocks_for(a.tokens, a.inner), kThreads, 0, stream_of(stream)>>>(a);
}

}  // namespace tritonsmith::model::cuda
