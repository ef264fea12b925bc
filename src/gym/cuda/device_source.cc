#include "gym/cuda/device_code.h"

namespace tritonsmith::gym::cuda {
namespace {

// Each pass reads its tensors once. Sums go from threads to warps, then by one atomic a warp.
constexpr std::string_view kKernels = R"cuda(
// Returns a number for the 16 bytes of a place. Plus one, or a pair of ones would give what a pair of
// zeros gives.
__device__ __forceinline__ u64 print_of(ulonglong2 pair, u64 place, u64 salt) {
  return mixed((pair.x ^ salt) + place * 0x9e3779b97f4a7c15ull) +
         mixed((pair.y ^ ~salt) + place * 0xd1342543de82ef95ull + 1);
}

// Adds to *sum a number that depends on every byte and its place, and on the salt. A `fill` below
// 256 then takes the place of each byte. What was written last may still lie in the cache, so the
// kernel begins at the end: bytes that are filled there never go to memory.
extern "C" __global__ void fingerprint(u8* bytes, u64 count, u64 salt, u32 fill, u64* sum) {
  const u64 stride = (u64)gridDim.x * blockDim.x;
  const u64 thread = (u64)blockIdx.x * blockDim.x + threadIdx.x;
  u64 mine = 0;
  if (((u64)bytes & 15) == 0) {
    ulonglong2* pairs = (ulonglong2*)bytes;
    const u64 whole = count / 16, filled = fill * 0x0101010101010101ull;
    // A thread loads four places before it stores, so that enough loads are in flight.
    constexpr int kAtOnce = 4;
    for (u64 first = thread; first < whole; first += kAtOnce * stride) {
      ulonglong2 loaded[kAtOnce];
#pragma unroll
      for (int k = 0; k < kAtOnce; ++k)
        if (first + k * stride < whole) loaded[k] = pairs[whole - 1 - first - k * stride];
#pragma unroll
      for (int k = 0; k < kAtOnce; ++k) {
        if (first + k * stride >= whole) continue;
        const u64 i = whole - 1 - first - k * stride;
        mine += print_of(loaded[k], i, salt);
        if (fill < 256) pairs[i] = {filled, filled};
      }
    }
    for (u64 i = whole * 16 + thread; i < count; i += stride) {
      mine += mixed((bytes[i] ^ salt) + i * 0x9e3779b97f4a7c15ull + 1);
      if (fill < 256) bytes[i] = (u8)fill;
    }
  } else {
    for (u64 i = thread; i < count; i += stride) {
      mine += mixed((bytes[i] ^ salt) + i * 0x9e3779b97f4a7c15ull + 2);
      if (fill < 256) bytes[i] = (u8)fill;
    }
  }
  add_of_block(mine, sum);
}

// Random numbers from a counter, 64 bits at a time: normal by Box and Muller's transform, or uniform
// in [0, 1). Where it lies on a grid is all the rounding costs: 2^-32 of the radius, 2^-24.
__device__ __forceinline__ float2 normal_pair(u64 bits) {
  const float radius_share = ((float)(u32)bits + 0.5f) * 0x1p-32f;
  const float radius = sqrtf(fmaxf(0.0f, -2.0f * logf(radius_share)));
  float sine, cosine;
  __sincosf((float)(u32)(bits >> 32) * (6.283185307f * 0x1p-32f), &sine, &cosine);
  return {radius * cosine, radius * sine};
}
__device__ __forceinline__ float2 uniform_pair(u64 bits) {
  return {(float)((u32)bits >> 8) * 0x1p-24f, (float)((u32)(bits >> 32) >> 8) * 0x1p-24f};
}
extern "C" __global__ void draw(float4* x, u64 quads, u64 seed, u32 is_normal) {
  const u64 stride = (u64)gridDim.x * blockDim.x;
  for (u64 i = (u64)blockIdx.x * blockDim.x + threadIdx.x; i < quads; i += stride) {
    const u64 a = mixed(seed + (2 * i + 1) * 0x9e3779b97f4a7c15ull);
    const u64 b = mixed(seed + (2 * i + 2) * 0x9e3779b97f4a7c15ull);
    const float2 first = is_normal ? normal_pair(a) : uniform_pair(a);
    const float2 second = is_normal ? normal_pair(b) : uniform_pair(b);
    x[i] = {first.x, first.y, second.x, second.y};
  }
}

// Changes a drawn tensor in place, copies it, and adds its fingerprint to *sum: what fingerprint()
// gives for its bytes. `quads`: groups of four elements. Where `kept` is below 1 only that share of
// the elements, by chance, is not set to zero.
struct Change {
  float factor, shift, kept;
  u32 changes;
  u64 seed;
};
extern "C" __global__ void spread(float4* x, float4* copy, u64 quads, Change change, u64 salt,
                                  u64* sum) {
  const u64 stride = (u64)gridDim.x * blockDim.x;
  u64 mine = 0;
#pragma unroll 4
  for (u64 i = (u64)blockIdx.x * blockDim.x + threadIdx.x; i < quads; i += stride) {
    float4 quad = x[i];
    if (change.changes) {
      float* at = &quad.x;
      const u64 bits = change.kept < 1 ? mixed(change.seed + i * 0x9e3779b97f4a7c15ull) : 0;
#pragma unroll
      for (int k = 0; k < 4; ++k) {
        // 16 bits of chance an element are enough for a share.
        const bool keeps = change.kept >= 1 || (float)((bits >> (16 * k)) & 0xffff) < change.kept * 65536;
        if (!keeps) at[k] = 0.0f;
        if (change.factor != 1) at[k] *= change.factor;
        if (change.shift != 0) at[k] += change.shift;
      }
      x[i] = quad;
    }
    copy[i] = quad;
    const ulonglong2 pair = *(const ulonglong2*)&quad;
    mine += print_of(pair, i, salt);
  }
  add_of_block(mine, sum);
}

__device__ __forceinline__ u64 bytes_that_differ(u64 a, u64 b) {
  u64 count = 0;
  for (u64 difference = a ^ b; difference != 0; difference >>= 8) count += (difference & 255) != 0;
  return count;
}

// Counts bytes that are not `value`, over several zones of one length. A zone begins anywhere. The
// bytes before and after its whole groups of 16 are read one by one.
struct Zones { const u8* at[32]; };
extern "C" __global__ void count_changed(Zones zones, u64 length, u8 value, u64* changed) {
  const u8* zone = zones.at[blockIdx.x];
  const u64 stride = (u64)gridDim.y * blockDim.x;
  const u64 thread = (u64)blockIdx.y * blockDim.x + threadIdx.x;
  const u64 to_border = (16 - (u64)zone % 16) % 16, before = to_border < length ? to_border : length;
  const u64 whole = (length - before) / 16, same = value * 0x0101010101010101ull;
  const ulonglong2* pairs = (const ulonglong2*)(zone + before);
  u64 mine = 0;
#pragma unroll 4
  for (u64 i = thread; i < whole; i += stride) {
    const ulonglong2 pair = pairs[i];
    mine += bytes_that_differ(pair.x, same) + bytes_that_differ(pair.y, same);
  }
  for (u64 i = thread; i < before; i += stride) mine += zone[i] != value;
  for (u64 i = before + 16 * whole + thread; i < length; i += stride) mine += zone[i] != value;
  mine = sum_of_warp(mine);
  if (first_lane() && mine != 0) atomicAdd(changed, mine);
}

struct Budget {
  double square_sum;
  u64 own_error;  // bits of the largest |reference - exact|
  u64 one_finite;  // elements of which either the reference or the exact value is finite
  double expected_squares;  // of the reference's finite values, and how many these are
  u64 expected_count;
};

template <typename T>
__device__ void measure_budget(const T* reference, const double* exact, u64 count, Budget* budget) {
  const u64 stride = (u64)gridDim.x * blockDim.x;
  double squares = 0, own = 0, expected = 0;
  u64 one_finite = 0, expected_count = 0;
#pragma unroll 4
  for (u64 i = (u64)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += stride) {
    const double e = exact[i], r = wide(reference[i]);
    if (is_finite(r)) {
      expected += r * r;
      ++expected_count;
    }
    if (is_finite(e) != is_finite(r)) {
      ++one_finite;
    } else if (is_finite(e)) {
      squares += e * e;
      own = fmax(own, fabs(r - e));
    }
  }
  squares = sum_of_warp(squares);
  const u64 largest = largest_of_warp(bits_of(own));
  one_finite = sum_of_warp(one_finite);
  expected = sum_of_warp(expected);
  expected_count = sum_of_warp(expected_count);
  if (!first_lane()) return;
  atomicAdd(&budget->square_sum, squares);
  atomicMax(&budget->own_error, largest);
  atomicAdd(&budget->expected_squares, expected);
  atomicAdd(&budget->expected_count, expected_count);
  if (one_finite != 0) atomicAdd(&budget->one_finite, one_finite);
}

struct Mismatch {
  u64 first, count, unwritten, far;
  u64 max_abs, max_rel;  // bits
};
struct Terms {
  const u8* raw;  // the candidate's bytes, for the filler
  u64 count;
  double tolerance;
  double unit;  // of its absolute part; negative: the reference's root mean square, at least 1
  double usable_share;
  double final_scale;
  u32 filler, width;  // width of an element; 0: elements never hold the filler
};

// The rules of compare.cc, element by element.
template <typename T>
__device__ void find_mismatch(const T* got, const T* expected, const double* exact,
                              const Budget* budget, Terms terms, Mismatch* mismatch) {
  double slack = 0;
  bool usable = false;
  const double t = terms.tolerance;
  const double known = budget->expected_count > 0 ? (double)budget->expected_count : 1.0;
  if (exact != nullptr && budget->one_finite == 0) {
    const double own = __longlong_as_double((i64)budget->own_error);
    const double rms = sqrt(budget->square_sum / known);
    slack = budget_slack(t, rms, own, terms.final_scale);
    usable = own <= terms.usable_share * t * rms;
  }
  double unit = terms.unit;
  if (unit < 0) unit = fmax(1.0, sqrt(budget->expected_squares / known));
  const u64 stride = (u64)gridDim.x * blockDim.x;
  u64 first = ~0ull, count = 0, unwritten = 0, far = 0;
  double max_abs = 0, max_rel = 0;
#pragma unroll 4
  for (u64 i = (u64)blockIdx.x * blockDim.x + threadIdx.x; i < terms.count; i += stride) {
    const double g = wide(got[i]), e = wide(expected[i]);
    const double true_value = usable ? exact[i] : 0;
    if ((is_nan(g) && is_nan(e)) || (!is_finite(g) && g == e)) continue;
    const double difference = fabs(g - e);
    const bool finite = is_finite(difference);
    if (finite) {
      max_abs = fmax(max_abs, difference);
      if (e != 0 && difference > max_rel * fabs(e)) max_rel = difference / fabs(e);
    }
    const bool near = finite && difference <= t * (unit + fabs(e));
    const bool close = !usable || fabs(g - true_value) <= t * fabs(true_value) + slack;
    if (near && close) continue;
    first = i < first ? i : first;
    ++count;
    if (near) continue;
    ++far;
    bool filled = terms.width > 0;
    for (u32 k = 0; k < terms.width; ++k)
      filled = filled && terms.raw[i * terms.width + k] == (u8)terms.filler;
    if (filled) ++unwritten;
  }
  const u64 abs_bits = largest_of_warp(bits_of(max_abs)), rel_bits = largest_of_warp(bits_of(max_rel));
  first = ~largest_of_warp(~first);
  count = sum_of_warp(count);
  unwritten = sum_of_warp(unwritten);
  far = sum_of_warp(far);
  if (!first_lane()) return;
  atomicMax(&mismatch->max_abs, abs_bits);
  atomicMax(&mismatch->max_rel, rel_bits);
  if (count == 0) return;
  atomicMin(&mismatch->first, first);
  atomicAdd(&mismatch->count, count);
  atomicAdd(&mismatch->unwritten, unwritten);
  atomicAdd(&mismatch->far, far);
}

// Exact values that lie in memory.
struct Given {
  const double* x;
  struct Values { double x; };
  __device__ __forceinline__ Values load(u64 i) const { return {x[i]}; }
  __device__ __forceinline__ double at(const Values& values) const { return values.x; }
};

#define FOR_TYPE(T, name)                                                                          \
  extern "C" __global__ void judge_##name(const T* g, const T* e, const double* x, u64 n,          \
                                          double tolerance, Judged* judged) {                      \
    judge_all(g, e, Given{x}, n, tolerance, judged);                                               \
  }                                                                                                \
  extern "C" __global__ void budget_##name(const T* r, const double* x, u64 n, Budget* b) {        \
    measure_budget(r, x, n, b);                                                                    \
  }                                                                                                \
  extern "C" __global__ void mismatch_##name(const T* g, const T* e, const double* x,              \
                                             const Budget* b, Terms terms, Mismatch* m) {          \
    find_mismatch(g, e, x, b, terms, m);                                                           \
  }
FOR_TYPE(double, f64)
FOR_TYPE(float, f32)
FOR_TYPE(Half, f16)
FOR_TYPE(BFloat, bf16)

// Keeps the stream waiting until the host has queued what shall then run without gaps; not longer
// than told, since a host that waits for room in the queue would never come to it.
extern "C" __global__ void hold(volatile u64* released, u64 ticket, u64 most_nanoseconds) {
  u64 begin, now;
  asm volatile("mov.u64 %0, %globaltimer;" : "=l"(begin));
  do {
    asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now));
  } while (*released < ticket && now - begin < most_nanoseconds);
}

// Runs until it is killed: what the watchdog is tested with.
extern "C" __global__ void endless(volatile u64* flag) {
  while (*flag == 0) {
  }
}
)cuda";

}  // namespace

std::string device_source() {
  return fmt::format("{}{}{}{}", common_source(), judging_source(), tolerance_source(), kKernels);
}

}  // namespace tritonsmith::gym::cuda
