// decode_in_order.cu for at most as many sequences and heads as there are multiprocessors. No other
// block then computes while a block's warps wait for each other. A block therefore has two halves
// of four warps. The scorers pass over the keys, keep the largest scores, and pass on the weights
// and shrinkage of a page. The summers pass over the values, a page or two behind them. Each half
// has its own ring in shared memory, filled ahead. The computation and its order are the same.
#include "model/cuda/decode_in_order.cuh"
#include "model/cuda/launches.h"

namespace tritonsmith::model::cuda {
namespace {

constexpr int kHalfThreads = 32 * kWarps;
constexpr int kThreads = 2 * kHalfThreads;
constexpr int kStages = 6;  // pages of a ring in flight or in use
constexpr int kMessages = 2;

// Barriers by number. Each of the kMessages has its own full and empty barrier.
constexpr int kOfScorers = 1, kFull = 2, kEmpty = kFull + kMessages;

__device__ void meet(int barrier, int threads) {
  asm volatile("bar.sync %0, %1;" ::"r"(barrier), "r"(threads) : "memory");
}
// Arrives at the barrier without waiting.
__device__ void announce(int barrier, int threads) {
  asm volatile("bar.arrive %0, %1;" ::"r"(barrier), "r"(threads) : "memory");
}

// The scorers' message about one page.
struct Message {
  Fragment weights[kWarps][32];  // of sixteen tokens each, by lane
  float shrinkage[kGroup];       // factor of the earlier sums
};

struct Exchange {
  Message messages[kMessages];
  float largest[2][kWarps][kGroup];  // of this page and of the next
};

// A half's view of the block's work.
struct Walk {
  const Half* rows;  // keys or values of the layer
  int slot, length, pages;
  unsigned ring;
};

template <int kHeadDim>
constexpr unsigned kTileBytes = kPage* kHeadDim * 2;

template <int kHeadDim>
__device__ unsigned stage_of(const Walk& walk, int page) {
  return walk.ring + page % kStages * kTileBytes<kHeadDim>;
}

template <int kHeadDim>
__device__ void fetch(const Decode& a, const Walk& walk, int page) {
  if (page < walk.pages) {
    constexpr int kChunks = kHeadDim / 8;
    const std::int64_t cached_page =
        a.cache.page_table[std::int64_t{walk.slot} * a.cache.pages_per_slot + page];
    const Half* from = walk.rows + (cached_page * a.kv_heads + blockIdx.x) * kPage * kHeadDim;
    const int there = walk.length - page * kPage;
    const unsigned stage = stage_of<kHeadDim>(walk, page);
#pragma unroll
    for (int i = threadIdx.x % kHalfThreads; i < kPage * kChunks; i += kHalfThreads) {
      const int row = i / kChunks, chunk = i % kChunks;
      copy_async(stage + chunk_offset<kHeadDim>(row, chunk), from + i * 8, row < there);
    }
  }
  commit_copies();
}

// Computes the scores of the group against this warp's sixteen tokens of a page. Tokens from
// `there` on do not exist.
template <typename T, int kHeadDim>
__device__ void score(const Fragment (&query)[kHeadDim / 16], const Fragment (&keys)[kHeadDim / 16],
                      int there, float (&s)[2][4]) {
#pragma unroll
  for (int k = 0; k < kHeadDim / 16; ++k) {
    multiply<T>(s[0], query[k], keys[k].r[0], keys[k].r[1]);
    multiply<T>(s[1], query[k], keys[k].r[2], keys[k].r[3]);
  }
  leave_out(there, s);
}

template <typename T, int kHeadDim>
__device__ void score_pages(const Decode& a, const Walk& walk, Exchange& exchange) {
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const float scale = scale_in_order(a.scale);
  Fragment query[kHeadDim / 16];
  read_queries<kHeadDim>(a, blockIdx.y, blockIdx.x, query);
  float largest[2] = {kNothing, kNothing};
  for (int page = 0; page < walk.pages; ++page) {
    wait_copies<kStages - 2>();
    // these keys have arrived, and all warps have read the previous ones
    meet(kOfScorers, kHalfThreads);
    Fragment keys[kHeadDim / 16];
#pragma unroll
    for (int k = 0; k < kHeadDim / 16; ++k)
      keys[k] = load_keys<kHeadDim>(stage_of<kHeadDim>(walk, page), warp, k);
    fetch<kHeadDim>(a, walk, page + kStages - 1);
    float s[2][4] = {};
    score<T, kHeadDim>(query, keys, walk.length - page * kPage, s);
    auto& of_warps = exchange.largest[page % 2];
#pragma unroll
    for (int row = 0; row < 2; ++row) {
      const float own = largest_score(s, row);
      if (lane % 4 == 0) of_warps[warp][lane / 4 + 8 * row] = own;
    }
    meet(kOfScorers, kHalfThreads);
    float shrinkage[2];
#pragma unroll
    for (int row = 0; row < 2; ++row) {
      const float before = largest[row];
#pragma unroll
      for (int w = 0; w < kWarps; ++w)
        largest[row] = fmaxf(largest[row], of_warps[w][lane / 4 + 8 * row]);
      shrinkage[row] = shrink_in_order(before, largest[row], scale);
    }
    const Fragment weights = weights_in_order<T>(s[0], s[1], largest, scale);
    const int slot = page % kMessages;
    if (page >= kMessages) meet(kEmpty + slot, kThreads);
    Message& message = exchange.messages[slot];
    message.weights[warp][lane] = weights;
    if (warp == 0 && lane % 4 == 0)
      message.shrinkage[lane / 4] = shrinkage[0], message.shrinkage[lane / 4 + 8] = shrinkage[1];
    announce(kFull + slot, kThreads);
  }
}

template <typename T, int kHeadDim>
__device__ void sum_pages(const Decode& a, const Walk& walk, const Exchange& exchange) {
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32 - kWarps;
  Sums<kHeadDim> sums = {};
  for (int page = 0; page < walk.pages; ++page) {
    wait_copies<kStages - 2>();
    const int slot = page % kMessages;
    meet(kFull + slot,
         kThreads);  // weights and values have arrived; the previous values have been read
    const Message& message = exchange.messages[slot];
    const float by[2] = {message.shrinkage[lane / 4], message.shrinkage[lane / 4 + 8]};
    Fragment weights[kStepsOfTile], values[kStepsOfTile][kPiecesOfWarp<kHeadDim>];
#pragma unroll
    for (int step = 0; step < kStepsOfTile; ++step) {
      weights[step] = message.weights[step][lane];
#pragma unroll
      for (int piece = 0; piece < kPiecesOfWarp<kHeadDim>; ++piece) {
        const int n = warp + piece * kWarps;
        if (n >= kHeadDim / 16) break;
        values[step][piece] = load_values<kHeadDim>(stage_of<kHeadDim>(walk, page), step, n);
      }
    }
    fetch<kHeadDim>(a, walk, page + kStages - 1);
    shrink(sums.weights, by);
#pragma unroll
    for (int piece = 0; piece < kPiecesOfWarp<kHeadDim>; ++piece)
      shrink(sums.out[piece][0], by), shrink(sums.out[piece][1], by);
#pragma unroll
    for (int step = 0; step < kStepsOfTile; ++step) {
      add_weights<T>(sums.weights, weights[step]);
#pragma unroll
      for (int piece = 0; piece < kPiecesOfWarp<kHeadDim>; ++piece) {
        if (warp + piece * kWarps >= kHeadDim / 16) break;
        const Fragment& b = values[step][piece];
        multiply<T>(sums.out[piece][0], weights[step], b.r[0], b.r[1]);
        multiply<T>(sums.out[piece][1], weights[step], b.r[2], b.r[3]);
      }
    }
    if (page + kMessages < walk.pages) announce(kEmpty + slot, kThreads);
  }
  write<T, kHeadDim>(a, sums, warp);
}

template <typename T, int kHeadDim>
__global__ void __launch_bounds__(kThreads) decode_few_in_order_kernel(Decode a) {
  extern __shared__ __align__(128) unsigned char memory[];
  __shared__ Exchange exchange;
  const bool is_scorer = threadIdx.x < kHalfThreads;
  const auto ring = static_cast<unsigned>(__cvta_generic_to_shared(memory));
  Walk walk = {.rows = is_scorer ? a.cache.keys : a.cache.values,
               .slot = a.slots[blockIdx.y],
               .ring = is_scorer ? ring : ring + kStages * kTileBytes<kHeadDim>};
  walk.length = walk.slot < 0 ? 0 : a.positions[blockIdx.y] + 1;
  walk.pages = (walk.length + kPage - 1) / kPage;
#pragma unroll
  for (int page = 0; page < kStages - 1; ++page) fetch<kHeadDim>(a, walk, page);
  if (is_scorer)
    score_pages<T, kHeadDim>(a, walk, exchange);
  else
    sum_pages<T, kHeadDim>(a, walk, exchange);
  wait_copies<0>();
}

}  // namespace

void launch_decode_few_in_order(const Decode& a, Stream stream) {
  with_head<32, 64, 128>(a.type, a.head_dim, [&]<typename T, int kHeadDim>() {
    constexpr int kBytes = 2 * kStages * static_cast<int>(kTileBytes<kHeadDim>);
    launch_with_memory<decode_few_in_order_kernel<T, kHeadDim>, kBytes>(
        dim3(a.kv_heads, a.rows), kThreads, a, stream_of(stream));
  });
}

}  // namespace tritonsmith::model::cuda
