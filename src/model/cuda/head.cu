// Computes log-probability and entropy from rows of logits in one pass, and the gradient of the
// logits.
#include "model/cuda/common.cuh"
#include "model/cuda/launches.h"

namespace tritonsmith::model::cuda {
namespace {

constexpr int kThreads = 512;

// Moments of the values seen so far: the largest value m, the sum of exp(z - m), and the sum of (z
// - m) exp(z - m). They use differences only, so an offset of all logits costs the entropy no
// digits.
struct Moments {
  float largest, sum, weighted;
};

// Returns the same moments relative to a larger value.
__device__ Moments about(Moments a, float largest) {
  if (a.sum == 0.0f) return {largest, 0.0f, 0.0f};
  const float lower = a.largest - largest, shrink = __expf(lower);
  return {largest, a.sum * shrink, (a.weighted + lower * a.sum) * shrink};
}

__device__ Moments joined(Moments a, Moments b) {
  const float largest = fmaxf(a.largest, b.largest);
  a = about(a, largest), b = about(b, largest);
  return {largest, a.sum + b.sum, a.weighted + b.weighted};
}

__device__ void add(Moments& moments, float z) {
  if (!(z <= moments.largest)) moments = about(moments, z);
  const float lower = z - moments.largest, e = __expf(lower);
  moments.sum += e;
  moments.weighted += lower * e;
}

__device__ Moments block_moments(Moments mine) {
  __shared__ Moments warps[kThreads / 32];
  for (int offset = 16; offset > 0; offset /= 2)
    mine = joined(mine, {__shfl_xor_sync(0xffffffffu, mine.largest, offset),
                         __shfl_xor_sync(0xffffffffu, mine.sum, offset),
                         __shfl_xor_sync(0xffffffffu, mine.weighted, offset)});
  if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = mine;
  __syncthreads();
  mine = warps[0];
  for (int warp = 1; warp < kThreads / 32; ++warp) mine = joined(mine, warps[warp]);
  return mine;
}

__global__ void __launch_bounds__(kThreads) head_rows_kernel(HeadRows a) {
  const std::int64_t row = blockIdx.x;
  const float* logits = a.logits + row * a.vocabulary;
  Moments moments = {-INFINITY, 0.0f, 0.0f};
  for (int i = threadIdx.x; i < a.vocabulary / 4; i += kThreads) {
    const float4 z = __ldcs(reinterpret_cast<const float4*>(logits) + i);
    add(moments, z.x * a.inverse_temperature);
    add(moments, z.y * a.inverse_temperature);
    add(moments, z.z * a.inverse_temperature);
    add(moments, z.w * a.inverse_temperature);
  }
  moments = block_moments(moments);
  if (threadIdx.x != 0) return;
  const float log_normaliser = moments.largest + logf(moments.sum);
  const std::int64_t target = a.targets[row];
  a.log_normaliser[row] = log_normaliser;
  a.entropy[row] = target < 0 ? 0.0f : logf(moments.sum) - moments.weighted / moments.sum;
  // If one token has all the probability, rounding must not lift its logarithm above 0.
  a.logprob[row] =
      target < 0 ? 0.0f : fminf(logits[target] * a.inverse_temperature - log_normaliser, 0);
}

// d logprob / d z = onehot - p;  d entropy / d z = -p (log p + entropy).
__global__ void __launch_bounds__(kThreads) head_rows_backward_kernel(HeadRowsBackward a) {
  const std::int64_t row = blockIdx.x;
  const auto* logits = reinterpret_cast<const float4*>(a.logits + row * a.vocabulary);
  auto* d_logits = reinterpret_cast<uint2*>(a.d_logits + row * a.vocabulary);
  const std::int64_t target = a.targets[row];
  const float of_logprob = target < 0 ? 0.0f : a.d_logprob[row];
  const float of_entropy = target < 0 || a.d_entropy == nullptr ? 0.0f : a.d_entropy[row];
  const float log_normaliser = a.log_normaliser[row], entropy = a.entropy[row];
  const auto gradient = [&](float z, std::int64_t token) {
    const float log_p = z * a.inverse_temperature - log_normaliser;
    float d = -__expf(log_p) * (of_logprob + of_entropy * (log_p + entropy));
    if (token == target) d += of_logprob;
    return target < 0 ? 0.0f : d * a.inverse_temperature;
  };
  for (int i = threadIdx.x; i < a.vocabulary / 4; i += kThreads) {
    const float4 z = __ldcs(logits + i);
    const std::int64_t token = 4 * std::int64_t{i};
    d_logits[i] = make_uint2(pack_bf16(gradient(z.x, token), gradient(z.y, token + 1)),
                             pack_bf16(gradient(z.z, token + 2), gradient(z.w, token + 3)));
  }
}

}  // namespace

void launch_head_rows(const HeadRows& a, Stream stream) {
  if (a.rows == 0) return;
  head_rows_kernel<<<static_cast<unsigned>(a.rows), kThreads, 0, stream_of(stream)>>>(a);
}

void launch_head_rows_backward(const HeadRowsBackward& a, Stream stream) {
  if (a.rows == 0) return;
  head_rows_backward_kernel<<<static_cast<unsigned>(a.rows), kThreads, 0, stream_of(stream)>>>(a);
}

}  // namespace tritonsmith::model::cuda
