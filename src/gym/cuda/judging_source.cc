#include <fmt/format.h>

#include "gym/compare/tolerance_rules.h"
#include "gym/cuda/device_code.h"

namespace tritonsmith::gym::cuda {
namespace {

// The definitions that all of the referee's kernels share.
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

// Adds up a block of 256 threads. All of them must call it.
constexpr int kWarps = 8;
__device__ __forceinline__ void add_of_block(u64 mine, u64* sum) {
  __shared__ u64 of_warps[kWarps];
  mine = sum_of_warp(mine);
  if (first_lane()) of_warps[threadIdx.x / 32] = mine;
  __syncthreads();
  if (threadIdx.x > 0) return;
  for (int warp = 1; warp < kWarps; ++warp) mine += of_warps[warp];
  if (mine != 0) atomicAdd(sum, mine);
}

__device__ __forceinline__ u64 mixed(u64 x) {  // splitmix64, Steele et al., OOPSLA 2014
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
  return x ^ (x >> 31);
}

)cuda";

// One pass over a candidate, a reference and the exact values, which may come from memory or from a
// kernel. It finds everything that decides whether the candidate is surely right, and how exact the
// reference is. `exact` loads its values for an element and computes the exact value from them. A
// thread loads four elements before it computes, so that enough loads are in flight.
constexpr std::string_view kJudging = R"cuda(
struct Judged {
  double square_sum;  // the first five as in Budget
  u64 own_error;
  u64 one_finite;
  double expected_squares;
  u64 expected_count;
  u64 far;     // bits of the largest |got - expected| - tolerance * |expected|; at least 0
  u64 beyond;  // the same against the exact value
  u64 alone;   // elements where NaN or infinity does not stand on both sides
  u64 max_abs, max_rel;  // bits
};

struct ElementCheck {
  double squares = 0, own = 0, expected = 0, far = 0, beyond = 0, max_abs = 0, max_rel = 0;
  u64 one_finite = 0, expected_count = 0, alone = 0;

  __device__ __forceinline__ void take(double g, double e, double x, double tolerance) {
    const bool is_sound = is_finite(e);
    if (is_sound) {
      expected += e * e;
      ++expected_count;
    }
    if (is_sound != is_finite(x)) {
      ++one_finite;
    } else if (is_sound) {
      squares += x * x;
      own = fmax(own, fabs(e - x));
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

  // Atomics on one place take turns: so first what a warp found, then what a block did.
  __device__ __forceinline__ void give(Judged* judged) {
    enum { sums = 2, counts = 3, greatest = 5 };
    __shared__ double summed[kWarps][sums];
    __shared__ u64 counted[kWarps][counts], largest[kWarps][greatest];
    const int warp = threadIdx.x / 32, k = threadIdx.x;
    const double my_sums[sums] = {sum_of_warp(squares), sum_of_warp(expected)};
    const u64 my_counts[counts] = {sum_of_warp(one_finite), sum_of_warp(expected_count),
                                   sum_of_warp(alone)};
    const u64 mine[greatest] = {largest_of_warp(bits_of(own)), largest_of_warp(bits_of(far)),
                                largest_of_warp(bits_of(beyond)), largest_of_warp(bits_of(max_abs)),
                                largest_of_warp(bits_of(max_rel))};
    if (first_lane()) {
      for (int i = 0; i < sums; ++i) summed[warp][i] = my_sums[i];
      for (int i = 0; i < counts; ++i) counted[warp][i] = my_counts[i];
      for (int i = 0; i < greatest; ++i) largest[warp][i] = mine[i];
    }
    __syncthreads();
    if (k < sums) {
      double* to[sums] = {&judged->square_sum, &judged->expected_squares};
      double all = 0;
      for (int i = 0; i < kWarps; ++i) all += summed[i][k];
      atomicAdd(to[k], all);
    } else if (k < sums + counts) {
      u64* to[counts] = {&judged->one_finite, &judged->expected_count, &judged->alone};
      u64 all = 0;
      for (int i = 0; i < kWarps; ++i) all += counted[i][k - sums];
      if (all != 0) atomicAdd(to[k - sums], all);
    } else if (k < sums + counts + greatest) {
      u64* to[greatest] = {&judged->own_error, &judged->far, &judged->beyond, &judged->max_abs,
                           &judged->max_rel};
      u64 most = 0;
      for (int i = 0; i < kWarps; ++i)
        most = largest[i][k - sums - counts] > most ? largest[i][k - sums - counts] : most;
      if (most != 0) atomicMax(to[k - sums - counts], most);
    }
  }
};

template <typename T, typename Exact>
__device__ __forceinline__ void judge_all(const T* got, const T* expected, const Exact& exact,
                                          u64 count, double tolerance, Judged* judged) {
  constexpr int kAtOnce = 4;
  const u64 stride = (u64)gridDim.x * blockDim.x;
  ElementCheck mine;
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

std::string tolerance_source() {
  constexpr compare::ToleranceRules rules = compare::kToleranceRules;
  return fmt::format(R"cuda(
// compare::ToleranceRules::budget_slack.
__device__ __forceinline__ double budget_slack(double tolerance, double rms, double own_error,
                                                double final_scale) {{
  return tolerance * (rms + final_scale * {}) + {} * own_error;
}}
)cuda",
                     rules.budget_floor, rules.own_error_factor);
}

}  // namespace tritonsmith::gym::cuda
