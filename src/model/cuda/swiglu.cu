// SwiGLU on the packed outputs of the gate and up projections, eight elements for each thread.
#include "model/cuda/common.cuh"
#include "model/cuda/launches.h"

namespace tritonsmith::model::cuda {
namespace {

constexpr int kThreads = 256;

struct Group {
  std::int64_t row;
  int column;  // in groups of eight
};

// Returns this thread's group of eight elements of [tokens, inner]; row -1: none.
__device__ Group group_of(std::int64_t tokens, int inner) {
  const std::int64_t item = std::int64_t{blockIdx.x} * kThreads + threadIdx.x;
  const int groups = inner / 8;
  if (item >= tokens * groups) return {-1, 0};
  return {item / groups, static_cast<int>(item % groups)};
}

__device__ float sigmoid(float x) { return 1.0f / (1.0f + __expf(-x)); }

template <typename T>
__device__ float element(const uint4& group, int i) {
  const unsigned pair = i < 2 ? group.x : i < 4 ? group.y : i < 6 ? group.z : group.w;
  return i % 2 == 0 ? T::low(pair) : T::high(pair);
}

template <typename T>
__device__ uint4 packed(const float (&v)[8]) {
  return make_uint4(T::pack(v[0], v[1]), T::pack(v[2], v[3]), T::pack(v[4], v[5]),
                    T::pack(v[6], v[7]));
}

template <typename T>
__global__ void __launch_bounds__(kThreads) swiglu_kernel(SwiGlu a) {
  const auto [row, column] = group_of(a.tokens, a.inner);
  if (row < 0) return;
  const int groups = a.inner / 8;
  const auto* gates = reinterpret_cast<const uint4*>(a.gate_up) + row * 2 * groups + column;
  const uint4 gate = gates[0], up = gates[groups];
  float out[8];
#pragma unroll
  for (int i = 0; i < 8; ++i) {
    const float g = element<T>(gate, i);
    out[i] = g * sigmoid(g) * element<T>(up, i) * a.factor;
  }
  reinterpret_cast<uint4*>(a.out)[row * groups + column] = packed<T>(out);
}

template <typename T>
__global__ void __launch_bounds__(kThreads) swiglu_backward_kernel(SwiGluBackward a) {
  const auto [row, column] = group_of(a.tokens, a.inner);
  if (row < 0) return;
  const int groups = a.inner / 8;
  auto* gates = reinterpret_cast<uint4*>(a.gate_up) + row * 2 * groups + column;
  auto* d_out = reinterpret_cast<uint4*>(a.d_out) + row * groups + column;
  const uint4 gate = gates[0], up = gates[groups], d = *d_out;
  float out[8], d_gate[8], d_up[8];
#pragma unroll
  for (int i = 0; i < 8; ++i) {
    const float g = element<T>(gate, i), u = element<T>(up, i), s = sigmoid(g);
    const float d_of = element<AsBf16>(d, i), silu = g * s;
    out[i] = silu * u;
    d_up[i] = d_of * silu;
    d_gate[i] = d_of * u * (s + silu * (1.0f - s));
  }
  gates[0] = packed<AsBf16>(d_gate);
  gates[groups] = packed<AsBf16>(d_up);
  *d_out = packed<AsBf16>(out);
}

unsigned blocks_for(std::int64_t tokens, int inner) {
  return static_cast<unsigned>((tokens * (inner / 8) + kThreads - 1) / kThreads);
}

}  // namespace

void launch_swiglu(const SwiGlu& a, Stream stream) {
  if (a.tokens == 0) return;
  with_type(a.type, [&]<typename T>(T) {
    swiglu_kernel<T><<<blocks_for(a.tokens, a.inner), kThreads, 0, stream_of(stream)>>>(a);
  });
}

void launch_swiglu_backward(const SwiGluBackward& a, Stream stream) {
  if (a.tokens == 0) return;
  with_type(a.type, [&]<typename T>(T) {
    swiglu_backward_kernel<T><<<blocks_for(a.tokens, a.inner), kThreads, 0, stream_of(stream)>>>(a);
  });
}

}  // namespace tritonsmith::model::cuda
