// RoPE on packed projections, with the norm of each head if the model has one. It also writes new
// keys and values to the paged cache.
#include "model/cuda/common.cuh"
#include "model/cuda/launches.h"

namespace tritonsmith::model::cuda {
namespace {

constexpr int kThreads = 256;
constexpr int kWarps = kThreads / 32;

// The elements of a head that one lane holds: kPairs consecutive elements of the first half, and
// their partners.
template <int kHeadDim>
struct Lane {
  static constexpr int kHalf = kHeadDim / 2;
  static constexpr int kPairs = kHalf < 32 ? 1 : kHalf / 32;
  static __device__ int first() { return threadIdx.x % 32 * kPairs; }
  static __device__ bool is_used() { return first() < kHalf; }
};

template <typename T, int kHeadDim>
__device__ void read_head(const Half* head, float (&low)[Lane<kHeadDim>::kPairs],
                          float (&high)[Lane<kHeadDim>::kPairs]) {
  using L = Lane<kHeadDim>;
#pragma unroll
  for (int i = 0; i < L::kPairs; ++i) {
    low[i] = L::is_used() ? T::to_float(head[L::first() + i]) : 0.0f;
    high[i] = L::is_used() ? T::to_float(head[L::first() + i + L::kHalf]) : 0.0f;
  }
}

template <typename T, int kHeadDim>
__device__ void write_head(Half* head, const float (&low)[Lane<kHeadDim>::kPairs],
                           const float (&high)[Lane<kHeadDim>::kPairs]) {
  using L = Lane<kHeadDim>;
  if (!L::is_used()) return;
#pragma unroll
  for (int i = 0; i < L::kPairs; ++i) {
    head[L::first() + i] = T::from_float(low[i]);
    head[L::first() + i + L::kHalf] = T::from_float(high[i]);
  }
}

template <int kHeadDim>
__device__ void norm_head(float (&low)[Lane<kHeadDim>::kPairs],
                          float (&high)[Lane<kHeadDim>::kPairs], const float* weight, float eps) {
  using L = Lane<kHeadDim>;
  float squares = 0;
#pragma unroll
  for (int i = 0; i < L::kPairs; ++i) squares += low[i] * low[i] + high[i] * high[i];
  const float rstd = rsqrtf(warp_sum(squares) / kHeadDim + eps);
  if (!L::is_used()) return;
#pragma unroll
  for (int i = 0; i < L::kPairs; ++i) {
    low[i] *= rstd * weight[L::first() + i];
    high[i] *= rstd * weight[L::first() + i + L::kHalf];
  }
}

// `direction` 1 rotates forward, -1 back.
template <int kHeadDim>
__device__ void rotate(float (&low)[Lane<kHeadDim>::kPairs], float (&high)[Lane<kHeadDim>::kPairs],
                     const float* cos, const float* sin, float direction) {
  using L = Lane<kHeadDim>;
  if (!L::is_used()) return;
#pragma unroll
  for (int i = 0; i < L::kPairs; ++i) {
    const float c = cos[L::first() + i], s = direction * sin[L::first() + i];
    const float a = low[i], b = high[i];
    low[i] = a * c - b * s;
    high[i] = b * c + a * s;
  }
}

// One warp for each head of a token: the query heads, then the key heads, then the value heads.
template <typename T, int kHeadDim>
__global__ void __launch_bounds__(kThreads) rope_kernel(Rope a) {
  using L = Lane<kHeadDim>;
  const int heads = a.heads + 2 * a.kv_heads;
  const std::int64_t item = std::int64_t{blockIdx.x} * kWarps + threadIdx.x / 32;
  if (item >= a.tokens * heads) return;
  const std::int64_t token = item / heads;
  const int head = static_cast<int>(item % heads);
  const bool is_value = head >= a.heads + a.kv_heads, is_query = head < a.heads;
  const int slot = a.slots == nullptr ? -1 : a.slots[token];
  if (is_value && slot < 0) return;
  Half* at = a.qkv + item * kHeadDim;
  float low[L::kPairs], high[L::kPairs];
  read_head<T, kHeadDim>(at, low, high);
  const int position = a.positions[token];
  if (!is_value) {
    const float* weight = is_query ? a.q_norm : a.k_norm;
    if (weight != nullptr) norm_head<kHeadDim>(low, high, weight, a.eps);
    const std::int64_t row = std::int64_t{position} * L::kHalf;
    rotate<kHeadDim>(low, high, a.cos + row, a.sin + row, 1.0f);
    write_head<T, kHeadDim>(at, low, high);
  }
  if (is_query || slot < 0) return;
  const int kv_head = (head - a.heads) % a.kv_heads;
  const std::int64_t page =
      a.cache.page_table[std::int64_t{slot} * a.cache.pages_per_slot + position / kPage];
  Half* cache = is_value ? a.cache.values : a.cache.keys;
  write_head<T, kHeadDim>(
      cache + ((page * a.kv_heads + kv_head) * kPage + position % kPage) * kHeadDim, low, high);
}

// A lane's sums for the gradient of a norm's weight.
template <int kHeadDim>
struct NormGradient {
  float low[Lane<kHeadDim>::kPairs], high[Lane<kHeadDim>::kPairs];
};

// d becomes the gradient before the norm.
template <typename T, int kHeadDim>
__device__ void norm_head_backward(const Half* raw, const float* weight, float eps,
                                   float (&d_low)[Lane<kHeadDim>::kPairs],
                                   float (&d_high)[Lane<kHeadDim>::kPairs],
                                   NormGradient<kHeadDim>& d_weight) {
  using L = Lane<kHeadDim>;
  float low[L::kPairs], high[L::kPairs];
  read_head<T, kHeadDim>(raw, low, high);
  const float* of_lane = weight + (L::is_used() ? L::first() : 0);
  float squares = 0, dot = 0;
#pragma unroll
  for (int i = 0; i < L::kPairs; ++i) {
    squares += low[i] * low[i] + high[i] * high[i];
    dot += d_low[i] * of_lane[i] * low[i] + d_high[i] * of_lane[i + L::kHalf] * high[i];
  }
  const float rstd = rsqrtf(warp_sum(squares) / kHeadDim + eps);
  const float mean = warp_sum(dot) * rstd * rstd / kHeadDim;
#pragma unroll
  for (int i = 0; i < L::kPairs; ++i) {
    d_weight.low[i] += d_low[i] * low[i] * rstd;
    d_weight.high[i] += d_high[i] * high[i] * rstd;
    d_low[i] = rstd * (d_low[i] * of_lane[i] - low[i] * mean);
    d_high[i] = rstd * (d_high[i] * of_lane[i + L::kHalf] - high[i] * mean);
  }
}

// Writes the sums of the block's warps, in their order, as one row of partials.
template <int kHeadDim>
__device__ void write_partials(const NormGradient<kHeadDim>& mine, float* partials) {
  using L = Lane<kHeadDim>;
  __shared__ float sums[kWarps][kHeadDim];
  __syncthreads();
  if (L::is_used())
    for (int i = 0; i < L::kPairs; ++i) {
      sums[threadIdx.x / 32][L::first() + i] = mine.low[i];
      sums[threadIdx.x / 32][L::first() + i + L::kHalf] = mine.high[i];
    }
  __syncthreads();
  for (int column = threadIdx.x; column < kHeadDim; column += kThreads) {
    float sum = 0;
    for (int warp = 0; warp < kWarps; ++warp) sum += sums[warp][column];
    partials[column] = sum;
  }
}

template <typename T, int kHeadDim>
__global__ void __launch_bounds__(kThreads) rope_backward_kernel(RopeBackward a) {
  using L = Lane<kHeadDim>;
  const int heads = a.heads + 2 * a.kv_heads;
  NormGradient<kHeadDim> d_q_norm = {}, d_k_norm = {};
  const std::int64_t stride = std::int64_t{gridDim.x} * kWarps;
  for (std::int64_t item = std::int64_t{blockIdx.x} * kWarps + threadIdx.x / 32;
       item < a.tokens * heads; item += stride) {
    const std::int64_t token = item / heads;
    const int head = static_cast<int>(item % heads);
    const bool is_query = head < a.heads, is_value = head >= a.heads + a.kv_heads;
    const std::int64_t kv_head = token * a.kv_heads + (head - a.heads) % a.kv_heads;
    const Bf16* from = is_query ? a.d_query + (token * a.heads + head) * kHeadDim
                                : (is_value ? a.d_value : a.d_key) + kv_head * kHeadDim;
    float low[L::kPairs], high[L::kPairs];
    read_head<AsBf16, kHeadDim>(from, low, high);
    if (!is_value) {
      const std::int64_t row = std::int64_t{a.positions[token]} * L::kHalf;
      rotate<kHeadDim>(low, high, a.cos + row, a.sin + row, -1.0f);
      if (a.raw != nullptr)
        norm_head_backward<T, kHeadDim>(a.raw + item * kHeadDim, is_query ? a.q_norm : a.k_norm,
                                        a.eps, low, high, is_query ? d_q_norm : d_k_norm);
    }
    write_head<AsBf16, kHeadDim>(a.d_qkv + item * kHeadDim, low, high);
  }
  if (a.raw == nullptr) return;
  float* partials = a.partials + std::int64_t{blockIdx.x} * 2 * kHeadDim;
  write_partials<kHeadDim>(d_q_norm, partials);
  write_partials<kHeadDim>(d_k_norm, partials + kHeadDim);
}

__global__ void add_norm_partials_kernel(RopeBackward a, int parts) {
  float* total = blockIdx.x == 0 ? a.d_q_norm : a.d_k_norm;
  float sum = 0;
  for (int part = 0; part < parts; ++part)
    sum += a.partials[(std::int64_t{part} * 2 + blockIdx.x) * a.head_dim + threadIdx.x];
  total[threadIdx.x] += sum;
}

// Returns the number of blocks that gives every head a warp.
template <typename Arguments>
unsigned blocks_for(const Arguments& a) {
  const std::int64_t warps = a.tokens * (a.heads + 2 * a.kv_heads);
  return static_cast<unsigned>((warps + kWarps - 1) / kWarps);
}

}  // namespace

void launch_rope(const Rope& a, Stream stream) {
  const unsigned blocks = blocks_for(a);
  if (blocks == 0) return;
  with_head<32, 64, 128, 256>(a.type, a.head_dim, [&]<typename T, int kHeadDim>() {
    rope_kernel<T, kHeadDim><<<blocks, kThreads, 0, stream_of(stream)>>>(a);
  });
}

void launch_rope_backward(const RopeBackward& a, Stream stream) {
  const unsigned needed = blocks_for(a), blocks = needed < kRopeParts ? needed : kRopeParts;
  if (blocks == 0) return;
  with_head<32, 64, 128, 256>(a.type, a.head_dim, [&]<typename T, int kHeadDim>() {
    rope_backward_kernel<T, kHeadDim><<<blocks, kThreads, 0, stream_of(stream)>>>(a);
    if (a.raw != nullptr)
      add_norm_partials_kernel<<<2, a.head_dim, 0, stream_of(stream)>>>(a,
                                                                        static_cast<int>(blocks));
  });
}

}  // namespace tritonsmith::model::cuda
