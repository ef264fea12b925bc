// Attention of one new token for each sequence over the paged cache with the sums of in_order.cuh.
// A block takes one sequence and one key-value head, with all queries of its group as rows of the
// tensor core's left operand. It passes over the pages in order. In each page a warp scores sixteen
// tokens, and then sums its own columns of the output over all sixty-four tokens.
//
// Pages are not distributed to several blocks, because that would change the order of summation.
// While a block's warps wait for each other, the other blocks of its multiprocessor compute. If
// there are no other blocks, a different kernel is used (decode_few_in_order.cu).
#include "model/cuda/decode_in_order.cuh"
#include "model/cuda/launches.h"

namespace tritonsmith::model::cuda {
namespace {

constexpr int kThreads = 32 * kWarps;
constexpr int kStages = 3;  // pages in flight or in use
constexpr int kMultiprocessors = 132;

// The data that the warps of a block exchange about a page.
struct Exchange {
  float largest[kWarps][kGroup];
  Fragment weights[kWarps][32];  // by lane
};

template <int kHeadDim>
__device__ void fetch(const Decode& a, int slot, int page_index, int length, unsigned stage) {
  constexpr int kChunks = kHeadDim / 8;
  const std::int64_t page =
      a.cache.page_table[std::int64_t{slot} * a.cache.pages_per_slot + page_index];
  const std::int64_t at = (page * a.kv_heads + blockIdx.x) * kPage * kHeadDim;
  const int there = length - page_index * kPage;
#pragma unroll
  for (int i = threadIdx.x; i < kPage * kChunks; i += kThreads) {
    const int row = i / kChunks, chunk = i % kChunks;
    const unsigned to = stage + chunk_offset<kHeadDim>(row, chunk);
    copy_async(to, a.cache.keys + at + i * 8, row < there);
    copy_async(to + kPage * kHeadDim * 2, a.cache.values + at + i * 8, row < there);
  }
}

// Computes the scores of the group against this warp's sixteen tokens of a page. Tokens from
// `there` on do not exist.
template <typename T, int kHeadDim>
__device__ void score(const Fragment (&query)[kHeadDim / 16], unsigned keys, int there,
                      float (&s)[2][4]) {
  const int warp = threadIdx.x / 32;
#pragma unroll
  for (int k = 0; k < kHeadDim / 16; ++k) {
    const Fragment b = load_keys<kHeadDim>(keys, warp, k);
    multiply<T>(s[0], query[k], b.r[0], b.r[1]);
    multiply<T>(s[1], query[k], b.r[2], b.r[3]);
  }
  leave_out(there, s);
}

// Adds a page to the sums of all warps.
template <typename T, int kHeadDim>
__device__ void absorb(Sums<kHeadDim>& sums, float (&s)[2][4], unsigned values, float scale,
                       Exchange& exchange) {
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
#pragma unroll
  for (int row = 0; row < 2; ++row) {
    const float largest = largest_score(s, row);
    if (lane % 4 == 0) exchange.largest[warp][lane / 4 + 8 * row] = largest;
  }
  __syncthreads();
  float by[2];
#pragma unroll
  for (int row = 0; row < 2; ++row) {
    const float before = sums.largest[row];
    float largest = before;
#pragma unroll
    for (int w = 0; w < kWarps; ++w)
      largest = fmaxf(largest, exchange.largest[w][lane / 4 + 8 * row]);
    sums.largest[row] = largest;
    by[row] = shrink_in_order(before, largest, scale);
  }
  exchange.weights[warp][lane] = weights_in_order<T>(s[0], s[1], sums.largest, scale);
  __syncthreads();
  shrink(sums.weights, by);
#pragma unroll
  for (int piece = 0; piece < kPiecesOfWarp<kHeadDim>; ++piece)
    shrink(sums.out[piece][0], by), shrink(sums.out[piece][1], by);
#pragma unroll
  for (int step = 0; step < kStepsOfTile; ++step) {
    const Fragment weights = exchange.weights[step][lane];
    add_weights<T>(sums.weights, weights);
#pragma unroll
    for (int piece = 0; piece < kPiecesOfWarp<kHeadDim>; ++piece) {
      const int n = warp + piece * kWarps;
      if (n >= kHeadDim / 16) break;
      const Fragment b = load_values<kHeadDim>(values, step, n);
      multiply<T>(sums.out[piece][0], weights, b.r[0], b.r[1]);
      multiply<T>(sums.out[piece][1], weights, b.r[2], b.r[3]);
    }
  }
}

template <typename T, int kHeadDim>
__global__ void __launch_bounds__(kThreads) decode_in_order_kernel(Decode a) {
  extern __shared__ __align__(128) unsigned char memory[];
  __shared__ Exchange exchange;
  constexpr unsigned kStageBytes = 2 * kPage * kHeadDim * 2;
  const auto ring = static_cast<unsigned>(__cvta_generic_to_shared(memory));
  const int slot = a.slots[blockIdx.y];
  const int length = slot < 0 ? 0 : a.positions[blockIdx.y] + 1;
  const int pages = (length + kPage - 1) / kPage;
  const float scale = scale_in_order(a.scale);
  Sums<kHeadDim> sums = {};
  sums.largest[0] = sums.largest[1] = kNothing;
  Fragment query[kHeadDim / 16];
  read_queries<kHeadDim>(a, blockIdx.y, blockIdx.x, query);
#pragma unroll
  for (int page = 0; page < kStages - 1; ++page) {
    if (page < pages) fetch<kHeadDim>(a, slot, page, length, ring + page * kStageBytes);
    commit_copies();
  }
  for (int page = 0; page < pages; ++page) {
    wait_copies<kStages - 2>();
    __syncthreads();  // this page has arrived, and all warps have read the previous one
    const int ahead = page + kStages - 1;
    if (ahead < pages)
      fetch<kHeadDim>(a, slot, ahead, length, ring + ahead % kStages * kStageBytes);
    commit_copies();
    const unsigned keys = ring + page % kStages * kStageBytes;
    float s[2][4] = {};
    score<T, kHeadDim>(query, keys, length - page * kPage, s);
    absorb<T, kHeadDim>(sums, s, keys + kStageBytes / 2, scale, exchange);
  }
  wait_copies<0>();
  write<T, kHeadDim>(a, sums, threadIdx.x / 32);
}

}  // namespace

void launch_decode_in_order(const Decode& a, Stream stream) {
  if (a.rows == 0) return;
  if (a.rows * a.kv_heads <= kMultiprocessors) return launch_decode_few_in_order(a, stream);
  with_head<32, 64, 128>(a.type, a.head_dim, [&]<typename T, int kHeadDim>() {
    constexpr int kBytes = kStages * 2 * kPage * kHeadDim * 2;
    launch_with_memory<decode_in_order_kernel<T, kHeadDim>, kBytes>(dim3(a.kv_heads, a.rows),
                                                                    kThreads, a, stream_of(stream));
  });
}

}  // namespace tritonsmith::model::cuda
