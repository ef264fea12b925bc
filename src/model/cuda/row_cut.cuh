// The tokens of a row of logits that top-k and top-p keep. A token is kept if its key is at least
// some floor. The key is the logit's bits, ordered like the values. One block finds the floor
// without a sort.
//
// A histogram finds the bin in which the cut lies. It is linear in the logit, so that few tokens
// fall into a bin. The few keys of that bin are listed in shared memory and cut digit by digit.
// Probabilities are summed as 64-bit integers, so the cut is the same on every run. Tokens with
// equal logits stay together.
#pragma once

#include "model/cuda/common.cuh"

namespace tritonsmith::model::cuda {

using Weight = unsigned long long;

constexpr int kRowThreads = 1024;
constexpr int kBins = 2048;
// the last bin holds all logits that lie 32 or more below the largest
constexpr float kBinsPerNat = 64;
constexpr int kMostListed = 4096;

struct CutMemory {
  // Weights of bins as two words. Shared memory adds 32-bit words natively, but 64-bit words only
  // by compare-and-swap.
  unsigned low[kBins], high[kBins];
  unsigned listed[kMostListed];  // keys
  int count;
  Weight warps[kRowThreads / 32];
  Weight above;
  int bin;
};

// Converts a logit to bits that are ordered like the floats.
__device__ inline unsigned key_of(float z) {
  const unsigned bits = __float_as_uint(z);
  return bits & 0x80000000u ? ~bits : bits | 0x80000000u;
}
__device__ inline float logit_of(unsigned key) {
  return __uint_as_float(key & 0x80000000u ? key ^ 0x80000000u : ~key);
}

// A row for the cuts: its tokens with a key of at least `floor`.
struct Row {
  const float* logits;
  int vocabulary;
  float largest, inverse_temperature, log_normaliser;
  unsigned floor;

  __device__ Weight probability(float z) const {
    // In units of 2^-40. Sums over a whole vocabulary fit, and smaller probabilities count as zero.
    // Every pass must compute the same value, so the rounding is explicit.
    return static_cast<Weight>(
        exp2f(__fmaf_rn(__fmaf_rn(z, inverse_temperature, -log_normaliser), 1.44269504f, 40.0f)));
  }
  // A larger logit has a higher bin.
  __device__ int bin_of(float z) const {
    const float down = __fmul_rn(__fsub_rn(largest, z), inverse_temperature * kBinsPerNat);
    return kBins - 1 - static_cast<int>(fminf(down, kBins - 1));
  }
};

// Calls act(first token, its logit and the next three, number of logits present). All threads of a
// warp call it equally often; a thread beyond the row's end gets the number 0. Four reads are in
// flight at a time.
template <typename Act>
__device__ void for_each_quad(const float* logits, int vocabulary, const Act& act) {
  constexpr int kAhead = 4;
  const int quads = (vocabulary + 3) / 4;
  const bool is_aligned = vocabulary % 4 == 0;
  for (int begin = 0; begin < quads; begin += kAhead * kRowThreads) {
    float4 z[kAhead];
#pragma unroll
    for (int k = 0; k < kAhead; ++k) {
      const int at = begin + k * kRowThreads + threadIdx.x, token = 4 * at;
      if (at >= quads) continue;
      if (is_aligned)
        z[k] = reinterpret_cast<const float4*>(logits)[at];
      else
        z[k] = make_float4(logits[token], logits[min(token + 1, vocabulary - 1)],
                           logits[min(token + 2, vocabulary - 1)],
                           logits[min(token + 3, vocabulary - 1)]);
    }
#pragma unroll
    for (int k = 0; k < kAhead; ++k) {
      const int token = 4 * (begin + k * kRowThreads + threadIdx.x);
      act(token, z[k], max(0, min(4, vocabulary - token)));
    }
  }
}

template <typename Act>
__device__ void for_each_logit(const float* logits, int vocabulary, const Act& act) {
  for_each_quad(logits, vocabulary, [&](int, const float4& z, int count) {
    if (count > 0) act(z.x);
    if (count > 1) act(z.y);
    if (count > 2) act(z.z);
    if (count > 3) act(z.w);
  });
}

enum class Weigh { by_count, by_probability };

__device__ inline Weight weight_of(const Row& row, Weigh weigh, float z) {
  if (key_of(z) < row.floor) return 0;
  return weigh == Weigh::by_count ? 1 : row.probability(z);
}

__device__ inline void clear_bins(CutMemory& memory) {
  for (int i = threadIdx.x; i < kBins; i += kRowThreads) memory.low[i] = memory.high[i] = 0;
  __syncthreads();
}

__device__ inline void add_to_bin(CutMemory& memory, int bin, Weight weight) {
  if (weight == 0) return;
  const auto low = static_cast<unsigned>(weight);
  const bool carries = atomicAdd(&memory.low[bin], low) + low < low;
  const unsigned high = static_cast<unsigned>(weight >> 32) + (carries ? 1 : 0);
  if (high != 0) atomicAdd(&memory.high[bin], high);
}

__device__ inline Weight bin_weight(const CutMemory& memory, int bin) {
  return static_cast<Weight>(memory.high[bin]) << 32 | memory.low[bin];
}

// A thread's neighbouring bins.
constexpr int kBinsOfThread = kBins / kRowThreads;
__device__ inline Weight own_weight(const CutMemory& memory) {
  Weight own = 0;
  for (int i = 0; i < kBinsOfThread; ++i)
    own += bin_weight(memory, threadIdx.x * kBinsOfThread + i);
  return own;
}

__device__ inline Weight weight_of_all(CutMemory& memory) {
  Weight sum = own_weight(memory);
  for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, offset);
  if (threadIdx.x % 32 == 0) memory.warps[threadIdx.x / 32] = sum;
  __syncthreads();
  sum = 0;
  for (int warp = 0; warp < kRowThreads / 32; ++warp) sum += memory.warps[warp];
  __syncthreads();
  return sum;
}

// The highest bin such that it and all higher bins weigh at least `need`, `above` included. It is
// bin 0 if the total weight is less. `above` of the result is the weight above that bin.
struct Found {
  int bin;
  Weight above;
};
__device__ inline Found find_bin(CutMemory& memory, Weight above, Weight need) {
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const Weight own = own_weight(memory);
  Weight reached = own;  // weight of this thread's bins and all higher ones
  for (int offset = 1; offset < 32; offset *= 2) {
    const Weight other = __shfl_down_sync(0xffffffffu, reached, offset);
    if (lane + offset < 32) reached += other;
  }
  if (lane == 0) memory.warps[warp] = reached;
  __syncthreads();
  for (int w = warp + 1; w < kRowThreads / 32; ++w) reached += memory.warps[w];
  const bool is_enough = above + reached >= need;
  const bool is_enough_beyond = above + reached - own >= need;
  if (is_enough ? !is_enough_beyond : threadIdx.x == 0) {
    above += reached - own;
    const int lowest = threadIdx.x * kBinsOfThread;
    int bin = lowest + kBinsOfThread - 1;
    for (; bin > lowest && above + bin_weight(memory, bin) < need; --bin)
      above += bin_weight(memory, bin);
    memory.bin = bin, memory.above = above;
  }
  __syncthreads();
  return {memory.bin, memory.above};
}

// Returns the largest key such that all keys of at least that value weigh at least `need`, `above`
// included. Returns 0 if the total weight is less. It decides eleven, eleven and ten bits at a
// time. each(act) calls act(key, weight).
template <typename Each>
__device__ unsigned cut_by_digits(CutMemory& memory, Weight above, Weight need, const Each& each) {
  unsigned prefix = 0;
  for (int level = 0; level < 3; ++level) {
    const int shift = level == 0 ? 21 : level == 1 ? 10 : 0;
    const int bits = level == 2 ? 10 : 11;
    clear_bins(memory);
    each([&](unsigned key, Weight weight) {
      if (level == 0 || key >> (shift + bits) == prefix)
        add_to_bin(memory, key >> shift & ((1u << bits) - 1), weight);
    });
    __syncthreads();
    const Found found = find_bin(memory, above, need);
    prefix = prefix << bits | static_cast<unsigned>(found.bin);
    above = found.above;
  }
  return prefix;
}

// Adds the weights of the row's tokens to the bins.
__device__ inline void weigh_row(const Row& row, Weigh weigh, CutMemory& memory) {
  clear_bins(memory);
  for_each_logit(row.logits, row.vocabulary,
                 [&](float z) { add_to_bin(memory, row.bin_of(z), weight_of(row, weigh, z)); });
  __syncthreads();
}

// Returns the largest key such that the tokens with at least that key weigh at least `need`.
// Returns the floor if all together weigh less. Requires a call of weigh_row.
__device__ inline unsigned cut(const Row& row, Weigh weigh, Weight need, CutMemory& memory) {
  if (threadIdx.x == 0) memory.count = 0;
  const Found found = find_bin(memory, 0, need);
  const auto is_there = [&](float z) {
    return row.bin_of(z) == found.bin && key_of(z) >= row.floor;
  };
  for_each_logit(row.logits, row.vocabulary, [&](float z) {
    if (!is_there(z)) return;
    const int at = atomicAdd(&memory.count, 1);
    if (at < kMostListed) memory.listed[at] = key_of(z);
  });
  __syncthreads();
  const int count = memory.count;
  const auto from_list = [&](const auto& act) {
    for (int i = threadIdx.x; i < count; i += kRowThreads)
      act(memory.listed[i], weight_of(row, weigh, logit_of(memory.listed[i])));
  };
  const auto from_row = [&](const auto& act) {
    for_each_logit(row.logits, row.vocabulary, [&](float z) {
      if (is_there(z)) act(key_of(z), weight_of(row, weigh, z));
    });
  };
  const unsigned key = count <= kMostListed ? cut_by_digits(memory, found.above, need, from_list)
                                            : cut_by_digits(memory, found.above, need, from_row);
  return max(key, row.floor);
}

}  // namespace tritonsmith::model::cuda
