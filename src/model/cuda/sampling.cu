// From rows of logits to tokens, one block a row, without a sort and without the host.
//   1. One pass for the largest logit and the normaliser.
//   2. With top-k or top-p: the key (logit bits, ordered as the values) below which tokens are cut,
//      found digit by digit from histograms of counts or of probability. Probabilities are summed
//      as 64-bit integers, so the cut is the same on every run. Tokens with equal logits stay
//      together.
//   3. The Gumbel-max trick as a race of exponentials: the token with the largest
//      z / T - log E, E = -log(1 - u), wins with probability softmax(z / T). u is a hash of (seed,
//      number of the draw, token): Philox4x32-10 ("Parallel random numbers: as easy as 1, 2, 3").
#include "model/cuda/common.cuh"
#include "model/cuda/launches.h"

namespace tritonsmith::model::cuda {
namespace {

constexpr int kThreads = 1024;
constexpr int kBins = 2048;

struct Shared {
  float scratch[33];
  unsigned long long bins[kBins];
  unsigned long long above;
  int bin;
  float best[kThreads / 32];
  int token[kThreads / 32];
};

__device__ float block_largest(float value, float* scratch) {
  for (int offset = 16; offset > 0; offset /= 2)
    value = fmaxf(value, __shfl_xor_sync(0xffffffffu, value, offset));
  __syncthreads();
  if (threadIdx.x % 32 == 0) scratch[threadIdx.x / 32] = value;
  __syncthreads();
  value = scratch[0];
  for (int warp = 1; warp < kThreads / 32; ++warp) value = fmaxf(value, scratch[warp]);
  return value;
}

// Ordered as the float is.
__device__ unsigned key_of(float z) {
  const unsigned bits = __float_as_uint(z);
  return bits & 0x80000000u ? ~bits : bits | 0x80000000u;
}

// A row as the cuts see it: what a token weighs, among those with a key of at least `floor`.
struct Row {
  const float* logits;
  int vocabulary;
  float inverse_temperature, log_normaliser;
  unsigned floor;

  __device__ unsigned long long probability(float z) const {
    // In units of 2^-40: sums of a whole vocabulary fit, and what is smaller has no say.
    return static_cast<unsigned long long>(
        exp2f(40.0f + (z * inverse_temperature - log_normaliser) * 1.44269504f));
  }
};

enum class Weigh { by_count, by_probability };

__device__ unsigned long long weight_of(const Row& row, Weigh weigh, float z) {
  if (key_of(z) < row.floor) return 0;
  return weigh == Weigh::by_count ? 1ull : row.probability(z);
}

// One warp: the highest bin such that it and those beyond it weigh at least `need`, with `above`
// from before; bin 0 if all do not.
__device__ void find_bin(int bins, unsigned long long above, unsigned long long need,
                         Shared& shared) {
  const int lane = threadIdx.x, each = bins / 32;
  unsigned long long own = 0;
  for (int i = lane * each; i < (lane + 1) * each; ++i) own += shared.bins[i];
  unsigned long long reached = own;  // of this lane's bins and those beyond them
  for (int offset = 1; offset < 32; offset *= 2) {
    const unsigned long long other = __shfl_down_sync(0xffffffffu, reached, offset);
    if (lane + offset < 32) reached += other;
  }
  const unsigned enough = __ballot_sync(0xffffffffu, above + reached >= need);
  const int chosen = enough == 0 ? 0 : 31 - __clz(static_cast<int>(enough));
  if (lane != chosen) return;
  above += reached - own;
  int bin = (lane + 1) * each - 1;
  for (; bin > lane * each && above + shared.bins[bin] < need; --bin) above += shared.bins[bin];
  shared.bin = bin, shared.above = above;
}

// The largest key such that tokens with at least that key weigh at least `need` together (the floor
// if all do not). Eleven, eleven and ten bits at a time.
__device__ unsigned cut(const Row& row, Weigh weigh, unsigned long long need, Shared& shared) {
  unsigned prefix = 0;
  unsigned long long above = 0;  // the weight of keys beyond the prefix
  for (int level = 0; level < 3; ++level) {
    const int shift = level == 0 ? 21 : level == 1 ? 10 : 0;
    const int bits = level == 2 ? 10 : 11;
    for (int i = threadIdx.x; i < kBins; i += kThreads) shared.bins[i] = 0;
    __syncthreads();
    for (int i = threadIdx.x; i < row.vocabulary; i += kThreads) {
      const unsigned key = key_of(row.logits[i]);
      if (level > 0 && key >> (shift + bits) != prefix) continue;
      const unsigned long long weight = weight_of(row, weigh, row.logits[i]);
      if (weight != 0) atomicAdd(&shared.bins[key >> shift & ((1u << bits) - 1)], weight);
    }
    __syncthreads();
    if (threadIdx.x < 32) find_bin(1 << bits, above, need, shared);
    __syncthreads();
    prefix = prefix << bits | static_cast<unsigned>(shared.bin);
    above = shared.above;
    __syncthreads();
  }
  return max(prefix, row.floor);
}

// All that is kept, in the units of Row::probability.
__device__ unsigned long long kept_probability(const Row& row, Shared& shared) {
  if (threadIdx.x == 0) shared.above = 0;
  __syncthreads();
  unsigned long long mine = 0;
  for (int i = threadIdx.x; i < row.vocabulary; i += kThreads)
    mine += weight_of(row, Weigh::by_probability, row.logits[i]);
  atomicAdd(&shared.above, mine);
  __syncthreads();
  const unsigned long long total = shared.above;
  __syncthreads();
  return total;
}

struct Words {
  unsigned w[4];
};

__device__ Words philox(unsigned c0, unsigned c1, unsigned c2, unsigned k0, unsigned k1) {
  unsigned c3 = 0;
#pragma unroll
  for (int round = 0; round < 10; ++round) {
    const unsigned high0 = __umulhi(0xD2511F53u, c0), low0 = 0xD2511F53u * c0;
    const unsigned high1 = __umulhi(0xCD9E8D57u, c2), low1 = 0xCD9E8D57u * c2;
    c0 = high1 ^ c1 ^ k0, c1 = low1, c2 = high0 ^ c3 ^ k1, c3 = low0;
    k0 += 0x9E3779B9u, k1 += 0xBB67AE85u;
  }
  return {{c0, c1, c2, c3}};
}

// -log of an exponential variable; never NaN, and finite but for nothing.
__device__ float gumbel(unsigned word) {
  const float u = fminf((static_cast<float>(word) + 0.5f) * 2.3283064e-10f, 0.99999994f);
  return -__logf(-log1pf(-u));
}

struct Best {
  float score;
  int token;
};

__device__ void take(Best& best, float score, int token) {
  if (score > best.score || (score == best.score && token < best.token)) best = {score, token};
}

__device__ Best block_best(Best best, Shared& shared) {
  for (int offset = 16; offset > 0; offset /= 2) {
    const float score = __shfl_xor_sync(0xffffffffu, best.score, offset);
    take(best, score, __shfl_xor_sync(0xffffffffu, best.token, offset));
  }
  __syncthreads();
  if (threadIdx.x % 32 == 0)
    shared.best[threadIdx.x / 32] = best.score, shared.token[threadIdx.x / 32] = best.token;
  __syncthreads();
  for (int warp = 0; warp < kThreads / 32; ++warp)
    take(best, shared.best[warp], shared.token[warp]);
  return best;
}

// The winner among tokens with a key of at least the floor; greedy without noise.
__device__ int race(const Row& row, float largest, bool is_greedy, std::uint64_t seed, int draw,
                    Shared& shared) {
  // No noise lifts a token by more than 23 nor takes more than 3 from the likeliest.
  const float hopeless = largest * row.inverse_temperature - 26.0f;
  Best best = {-INFINITY, INT_MAX};
  for (int begin = 4 * threadIdx.x; begin < row.vocabulary; begin += 4 * kThreads) {
    Words noise;
    bool has_noise = false;
    for (int i = 0; i < 4 && begin + i < row.vocabulary; ++i) {
      const float z = row.logits[begin + i];
      if (key_of(z) < row.floor) continue;
      const float scaled = z * row.inverse_temperature;
      if (is_greedy) {
        take(best, scaled, begin + i);
        continue;
      }
      if (scaled < hopeless) continue;
      if (!has_noise)
        noise = philox(static_cast<unsigned>(begin), static_cast<unsigned>(draw), 0x746f6b65u,
                       static_cast<unsigned>(seed), static_cast<unsigned>(seed >> 32));
      has_noise = true;
      take(best, scaled + gumbel(noise.w[i]), begin + i);
    }
  }
  return block_best(best, shared).token;
}

__device__ void move_on(const Sample& a, int slot, int token, float logprob) {
  a.tokens[blockIdx.x] = token;
  a.logprobs[blockIdx.x] = logprob;
  a.arrays.token[slot] = token;
  a.arrays.position[slot] += 1;
  a.arrays.drawn[slot] += 1;
}

__global__ void __launch_bounds__(kThreads) sample_kernel(Sample a) {
  __shared__ Shared shared;
  const int slot = a.slots[blockIdx.x];
  if (slot < 0) return;
  const std::int64_t from = a.logits_row == nullptr ? blockIdx.x : a.logits_row[blockIdx.x];
  const float* logits = a.logits + from * a.vocabulary;
  const float temperature = a.arrays.temperature[slot], top_p = a.arrays.top_p[slot];
  const int top_k = a.arrays.top_k[slot];
  const bool is_greedy = temperature == 0;
  const float inverse = is_greedy ? 1.0f : 1.0f / temperature;
  float largest = -INFINITY;
  for (int i = threadIdx.x; i < a.vocabulary; i += kThreads) largest = fmaxf(largest, logits[i]);
  largest = block_largest(largest, shared.scratch);
  float sum = 0;  // NaN wherever a logit is: fmaxf passes over those
  for (int i = threadIdx.x; i < a.vocabulary; i += kThreads)
    sum += __expf((logits[i] - largest) * inverse);
  const float log_normaliser = largest * inverse + logf(block_sum(sum, shared.scratch));
  if (!isfinite(log_normaliser)) {
    if (threadIdx.x == 0) move_on(a, slot, -1, 0.0f);
    return;
  }
  Row row = {logits, a.vocabulary, inverse, log_normaliser, 0};
  if (!is_greedy && top_k > 0 && top_k < a.vocabulary)
    row.floor = cut(row, Weigh::by_count, static_cast<unsigned long long>(top_k), shared);
  if (!is_greedy && top_p < 1.0f) {
    const auto total = static_cast<double>(kept_probability(row, shared));
    // Tokens so unlikely hold at most 1 - top_p together, so none of them is needed; few are left.
    const float share = (1.0f - top_p) * static_cast<float>(total * 9.0949470e-13) /
                        static_cast<float>(a.vocabulary);
    if (share > 0)
      row.floor = max(row.floor, key_of((logf(share) + log_normaliser) / inverse - 1e-3f));
    row.floor = cut(row, Weigh::by_probability,
                    max(static_cast<unsigned long long>(top_p * total), 1ull), shared);
  }
  const int token =
      race(row, largest, is_greedy, a.arrays.seed[slot], a.arrays.drawn[slot], shared);
  if (threadIdx.x == 0)
    move_on(a, slot, token, fminf(logits[token] * inverse - log_normaliser, 0.0f));
}

}  // namespace

void launch_sample(const Sample& a, Stream stream) {
  if (a.rows == 0) return;
  sample_kernel<<<a.rows, kThreads, 0, stream_of(stream)>>>(a);
}

}  // namespace tritonsmith::model::cuda
