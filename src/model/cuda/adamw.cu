// AdamW over flat buffers in one pass. It reads and writes 28 bytes for each weight, plus two for
// its 16-bit copy.
#include "model/cuda/common.cuh"
#include "model/cuda/launches.h"

namespace tritonsmith::model::cuda {
namespace {

constexpr int kThreads = 256;

__device__ void update(const AdamW& a, float decay, float gradient, float& weight, float& first,
                       float& second) {
  gradient *= a.gradient_scale;
  first = a.beta1 * first + (1.0f - a.beta1) * gradient;
  second = a.beta2 * second + (1.0f - a.beta2) * gradient * gradient;
  const float denominator = sqrtf(second / a.correction2) + a.epsilon;
  weight -= a.learning_rate * (decay * weight + first / a.correction1 / denominator);
}

template <typename T>
__global__ void __launch_bounds__(kThreads) adamw_kernel(AdamW a) {
  const std::int64_t quads = a.count / 4, stride = std::int64_t{gridDim.x} * kThreads;
  for (std::int64_t i = std::int64_t{blockIdx.x} * kThreads + threadIdx.x; i < quads; i += stride) {
    const float decay = 4 * i < a.decayed ? a.weight_decay : 0.0f;
    const float4 g = __ldcs(reinterpret_cast<const float4*>(a.gradients) + i);
    float4 w = reinterpret_cast<float4*>(a.weights)[i];
    float4 m = reinterpret_cast<float4*>(a.first)[i], v = reinterpret_cast<float4*>(a.second)[i];
    update(a, decay, g.x, w.x, m.x, v.x);
    update(a, decay, g.y, w.y, m.y, v.y);
    update(a, decay, g.z, w.z, m.z, v.z);
    update(a, decay, g.w, w.w, m.w, v.w);
    reinterpret_cast<float4*>(a.weights)[i] = w;
    reinterpret_cast<float4*>(a.first)[i] = m;
    reinterpret_cast<float4*>(a.second)[i] = v;
    if (a.half != nullptr)
      reinterpret_cast<uint2*>(a.half)[i] = make_uint2(T::pack(w.x, w.y), T::pack(w.z, w.w));
  }
}

}  // namespace

void launch_adamw(const AdamW& a, Stream stream) {
  const std::int64_t blocks = (a.count / 4 + kThreads - 1) / kThreads;
  if (blocks == 0) return;
  constexpr std::int64_t kMost = 132 * 16;
  const auto used = static_cast<unsigned>(blocks < kMost ? blocks : kMost);
  with_type(a.type,
            [&]<typename T>(T) { adamw_kernel<T><<<used, kThreads, 0, stream_of(stream)>>>(a); });
}

}  // namespace tritonsmith::model::cuda
