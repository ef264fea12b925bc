#include "gym/gpu/device_code.h"

namespace tritonsmith::gym::gpu {
namespace {

// What all of the referee's kernels are written with.
constexpr std::string_view kCommon = R"cuda(
typedef unsigned char u8;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef long long i64;

struct Half { unsigned short bits; };
struct BFloat { unsigned short bits; };

__device__ __forceinline__ double wide(double x) { return x; }
__device__ __forceinline__ double wide(float x) { return x; }
__device__ __forceinline__ double wide(BFloat x) { return __uint_as_float((u32)x.bits << 16); }
__device__ __forceinline__ double wide(Half x) {
  float y;
  asm("cvt.f32.f16 %0, %1;" : "=f"(y) : "h"(x.bits));
  return y;
}

// Positive doubles are ordered as their bits are.
__device__ __forceinline__ u64 bits_of(double x) { return (u64)__double_as_longlong(x); }
__device__ __forceinline__ bool is_finite(double x) {
  return (bits_of(x) & 0x7ff0000000000000ull) != 0x7ff0000000000000ull;
}
__device__ __forceinline__ bool is_nan(double x) { return x != x; }

__device__ __forceinline__ double sum_of_warp(double x) {
  for (int k = 16; k > 0; k /= 2) x += __shfl_xor_sync(~0u, x, k);
  return x;
}
__device__ __forceinline__ u64 sum_of_warp(u64 x) {
  for (int k = 16; k > 0; k /= 2) x += __shfl_xor_sync(~0u, x, k);
  return x;
}
__device__ __forceinline__ u64 largest_of_warp(u64 x) {
  for (int k = 16; k > 0; k /= 2) {
    const u64 other = __shfl_xor_sync(~0u, x, k);
    x = other > x ? other : x;
  }
  return x;
}
__device__ __forceinline__ bool first_lane() { return (threadIdx.x & 31) == 0; }

__device__ __forceinline__ u64 mixed(u64 x) {  // splitmix64, Steele et al., OOPSLA 2014
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
  return x ^ (x >> 31);
}

)cuda";

// One pass over a candidate, a reference and the exact values, wherever these come from: all that
// decides whether the candidate is surely right, and what the reference's numbers are worth.
// `exact` loads its values for an element, and computes the exact one of them. Loads come first,
// four elements at a time, so that enough of them are under way.
constexpr std::string_view kJudging = R"cuda(
struct Judged {
  double square_sum;  // the first five as in Budget
  u64 own_error;
  u64 not_finite;
  double expected_squares;
  u64 expected_count;
  u64 far;     // bits of the largest |got - expected| - tolerance * |expected|; at least 0
  u64 beyond;  // the same against the exact value
  u64 alone;   // elements where NaN or infinity does not stand on both sides
  u64 max_abs, max_rel;  // bits
};

struct Judging {
  double squares = 0, own = 0, expected = 0, far = 0, beyond = 0, max_abs = 0, max_rel = 0;
  u64 not_finite = 0, expected_count = 0, alone = 0;

  __device__ __forceinline__ void take(double g, double e, double x, double tolerance) {
    const bool is_sound = is_finite(e);
    if (is_sound) {
      expected += e * e;
      ++expected_count;
    }
    if (is_sound && is_finite(x)) {
      squares += x * x;
      own = fmax(own, fabs(e - x));
    } else {
      ++not_finite;
    }
    if ((is_nan(g) && is_nan(e)) || (!is_finite(g) && g == e)) return;
    const double difference = fabs(g - e), size = fabs(e);
    if (!is_finite(difference)) {
      ++alone;
      return;
    }
    max_abs = fmax(max_abs, difference);
    if (e != 0 && difference > max_rel * size) max_rel = difference / size;
    far = fmax(far, difference - tolerance * size);
    beyond = fmax(beyond, fabs(g - x) - tolerance * fabs(x));
  }

  __device__ __forceinline__ void give(Judged* judged) {
    squares = sum_of_warp(squares);
    expected = sum_of_warp(expected);
    not_finite = sum_of_warp(not_finite);
    expected_count = sum_of_warp(expected_count);
    alone = sum_of_warp(alone);
    const u64 own_bits = largest_of_warp(bits_of(own)), far_bits = largest_of_warp(bits_of(far));
    const u64 beyond_bits = largest_of_warp(bits_of(beyond));
    const u64 abs_bits = largest_of_warp(bits_of(max_abs));
    const u64 rel_bits = largest_of_warp(bits_of(max_rel));
    if (!first_lane()) return;
    atomicAdd(&judged->square_sum, squares);
    atomicAdd(&judged->expected_squares, expected);
    atomicAdd(&judged->expected_count, expected_count);
    if (not_finite != 0) atomicAdd(&judged->not_finite, not_finite);
    if (alone != 0) atomicAdd(&judged->alone, alone);
    atomicMax(&judged->own_error, own_bits);
    atomicMax(&judged->far, far_bits);
    atomicMax(&judged->beyond, beyond_bits);
    atomicMax(&judged->max_abs, abs_bits);
    atomicMax(&judged->max_rel, rel_bits);
  }
};

template <typename T, typename Exact>
__device__ __forceinline__ void judge_all(const T* got, const T* expected, const Exact& exact,
                                          u64 count, double tolerance, Judged* judged) {
  constexpr int kAtOnce = 4;
  const u64 stride = (u64)gridDim.x * blockDim.x;
  Judging mine;
  for (u64 first = (u64)blockIdx.x * blockDim.x + threadIdx.x; first < count;
       first += kAtOnce * stride) {
    T g[kAtOnce], e[kAtOnce];
    typename Exact::Values values[kAtOnce];
#pragma unroll
    for (int k = 0; k < kAtOnce; ++k) {
      const u64 i = first + k * stride;
      if (i >= count) continue;
      g[k] = got[i];
      e[k] = expected[i];
      values[k] = exact.load(i);
    }
#pragma unroll
    for (int k = 0; k < kAtOnce; ++k)
      if (first + k * stride < count)
        mine.take(wide(g[k]), wide(e[k]), exact.at(values[k]), tolerance);
  }
  mine.give(judged);
}
)cuda";

}  // namespace

std::string_view common_source() { return kCommon; }
std::string_view judging_source() { return kJudging; }

}  // namespace tritonsmith::gym::gpu
