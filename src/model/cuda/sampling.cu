// Samples tokens from rows of logits, one block for each row, without a sort and without the host.
//   1. One pass finds the largest logit, one the normaliser.
//   2. With top-k or top-p: row_cut.cuh finds the key below which tokens are cut.
//   3. The Gumbel-max trick, as a race of exponentials: the token with the largest z / T - log E,
//      E = -log(1 - u), wins with probability softmax(z / T). u is a hash of (seed, number of the
//      draw, token): Philox4x32-10 ("Parallel random numbers: as easy as 1, 2, 3").
#include "model/cuda/common.cuh"
#include "model/cuda/launches.h"
#include "model/cuda/row_cut.cuh"

namespace tritonsmith::model::cuda {
namespace {

constexpr int kThreads = kRowThreads;

struct Shared {
  float scratch[33];
  CutMemory cut;
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

// Returns -log of an exponential variable, which is always a finite number.
__device__ float gumbel(unsigned word) {
  const float u = fminf((static_cast<float>(word) + 0.5f) * 2.3283064e-10f, 0.99999994f);
  return -__logf(-log1pf(-u));
}

// Returns an upper bound of gumbel(word) at a fraction of its cost, because E is at least u.
__device__ float most_of_gumbel(unsigned word) {
  return 0.6932f * static_cast<float>(__clz(static_cast<int>(word)) + 1);
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

// Returns the winner among tokens with a key of at least the floor. Greedy sampling has no noise.
__device__ int race(const Row& row, bool is_greedy, std::uint64_t seed, int draw, Shared& shared) {
  // Noise lifts no token by more than 23, and takes at most 3 from the likeliest.
  const float hopeless = row.largest * row.inverse_temperature - 26.0f;
  Best best = {-INFINITY, INT_MAX};
  float reached = -INFINITY;  // by any thread of the warp
  for_each_quad(row.logits, row.vocabulary, [&](int begin, const float4& quad, int count) {
    const float z[4] = {quad.x, quad.y, quad.z, quad.w};
    Words noise;
    bool has_noise = false;
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      if (i >= count || key_of(z[i]) < row.floor) continue;
      const float scaled = z[i] * row.inverse_temperature;
      if (is_greedy) {
        take(best, scaled, begin + i);
        continue;
      }
      if (scaled < hopeless) continue;
      if (!has_noise)
        noise = philox(static_cast<unsigned>(begin), static_cast<unsigned>(draw), 0x746f6b65u,
                       static_cast<unsigned>(seed), static_cast<unsigned>(seed >> 32));
      has_noise = true;
      if (scaled + most_of_gumbel(noise.w[i]) + 1e-3f < reached) continue;
      take(best, scaled + gumbel(noise.w[i]), begin + i);
    }
    reached = best.score;
    for (int offset = 16; offset > 0; offset /= 2)
      reached = fmaxf(reached, __shfl_xor_sync(0xffffffffu, reached, offset));
  });
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
  for_each_logit(logits, a.vocabulary, [&](float z) { largest = fmaxf(largest, z); });
  largest = block_largest(largest, shared.scratch);
  float sum = 0;  // NaN if any logit is NaN: fmaxf ignores those
  for_each_logit(logits, a.vocabulary, [&](float z) { sum += __expf((z - largest) * inverse); });
  const float log_normaliser = largest * inverse + logf(block_sum(sum, shared.scratch));
  if (!isfinite(log_normaliser)) {
    if (threadIdx.x == 0) move_on(a, slot, -1, 0.0f);
    return;
  }
  Row row = {logits, a.vocabulary, largest, inverse, log_normaliser, 0};
  if (!is_greedy && top_k > 0 && top_k < a.vocabulary) {
    weigh_row(row, Weigh::by_count, shared.cut);
    row.floor = cut(row, Weigh::by_count, static_cast<Weight>(top_k), shared.cut);
  }
  if (!is_greedy && top_p < 1.0f) {
    weigh_row(row, Weigh::by_probability, shared.cut);
    const auto total = static_cast<double>(weight_of_all(shared.cut));
    row.floor = cut(row, Weigh::by_probability, max(static_cast<Weight>(top_p * total), Weight{1}),
                    shared.cut);
  }
  const int token = race(row, is_greedy, a.arrays.seed[slot], a.arrays.drawn[slot], shared);
  if (threadIdx.x == 0)
    move_on(a, slot, token, fminf(logits[token] * inverse - log_normaliser, 0.0f));
}

}  // namespace

void launch_sample(const Sample& a, Stream stream) {
  if (a.rows == 0) return;
  sample_kernel<<<a.rows, kThreads, 0, stream_of(stream)>>>(a);
}

}  // namespace tritonsmith::model::cuda
