// Causal attention of packed sequences with the sums of in_order.cuh. Training and prompts use it
// if their bits must equal those of decoding. The method is that of FlashAttention 2 (arXiv
// 2307.08691). A block takes kRows queries of one head, 32 for each of four warps. It passes over
// the tiles of keys and values up to its last query, with two tiles in shared memory.
#include "model/cuda/in_order.cuh"
#include "model/cuda/launches.h"

namespace tritonsmith::model::cuda {
namespace {

constexpr int kWarps = 4;
constexpr int kThreads = 32 * kWarps;
constexpr int kPieces = 2;  // pieces of sixteen queries for each warp
// divides kPage, so that a warp's queries end in the same tile
constexpr int kRowsOfWarp = 16 * kPieces;
constexpr int kRows = kWarps * kRowsOfWarp;
constexpr int kStages = 2;
constexpr float kNothing = -INFINITY;

// A warp's sums. Lane l holds rows l / 4 and l / 4 + 8 of each piece. Of each eight columns it
// holds the two from 2 (l % 4) on.
template <int kHeadDim>
struct Sums {
  float out[kPieces][kHeadDim / 8][4];
  float weights[kPieces][4];
  float largest[kPieces][2];
};

// Copies rows of D elements into a tile. Rows outside [first, end) do not exist and become zero.
struct There {
  int first, end;
};
template <int kHeadDim>
__device__ void fetch(unsigned to, const Half* from, std::int64_t stride, int rows, There there) {
  constexpr int kChunks = kHeadDim / 8;
  for (int i = threadIdx.x; i < rows * kChunks; i += kThreads) {
    const int row = i / kChunks, chunk = i % kChunks;
    const bool is_there = row >= there.first && row < there.end;
    const int readable = is_there ? row : there.first;
    copy_async(to + chunk_offset<kHeadDim>(row, chunk), from + readable * stride + chunk * 8,
               is_there);
  }
}

// Computes the scores of the warp's queries against all keys of a tile.
template <typename T, int kHeadDim>
__device__ void score(unsigned queries, unsigned keys, float (&s)[kPieces][kPage / 8][4]) {
  const int lane = threadIdx.x % 32;
#pragma unroll
  for (int k = 0; k < kHeadDim / 16; ++k) {
    Fragment query[kPieces];
#pragma unroll
    for (int piece = 0; piece < kPieces; ++piece)
      query[piece] = load_matrices(
          queries + chunk_offset<kHeadDim>(16 * piece + lane % 16, 2 * k + lane / 16));
#pragma unroll
    for (int pair = 0; pair < kStepsOfTile; ++pair) {
      const Fragment b = load_keys<kHeadDim>(keys, pair, k);
#pragma unroll
      for (int piece = 0; piece < kPieces; ++piece) {
        multiply<T>(s[piece][2 * pair], query[piece], b.r[0], b.r[1]);
        multiply<T>(s[piece][2 * pair + 1], query[piece], b.r[2], b.r[3]);
      }
    }
  }
}

// Adds a piece's scores to its running softmax.
template <typename T, int kHeadDim>
__device__ void weigh(Sums<kHeadDim>& sums, int piece, float (&s)[kPage / 8][4], float scale,
                      Fragment (&weights)[kStepsOfTile]) {
  float by[2];
#pragma unroll
  for (int row = 0; row < 2; ++row) {
    float largest = kNothing;
#pragma unroll
    for (int n = 0; n < kPage / 8; ++n)
      largest = fmaxf(largest, fmaxf(s[n][2 * row], s[n][2 * row + 1]));
    const float before = sums.largest[piece][row];
    sums.largest[piece][row] = fmaxf(before, largest_of_row(largest));
    by[row] = shrink_in_order(before, sums.largest[piece][row], scale);
  }
#pragma unroll
  for (int n = 0; n < kHeadDim / 8; ++n) shrink(sums.out[piece][n], by);
  shrink(sums.weights[piece], by);
#pragma unroll
  for (int step = 0; step < kStepsOfTile; ++step) {
    weights[step] = weights_in_order<T>(s[2 * step], s[2 * step + 1], sums.largest[piece], scale);
    add_weights<T>(sums.weights[piece], weights[step]);
  }
}

// `row` is the warp's first query, counted from the beginning of the sequence.
template <typename T, int kHeadDim>
__device__ void absorb(Sums<kHeadDim>& sums, unsigned queries, unsigned keys, int tile, int row,
                       float scale) {
  const int lane = threadIdx.x % 32;
  float s[kPieces][kPage / 8][4] = {};
  score<T, kHeadDim>(queries, keys, s);
  if (tile == row / kPage) {
#pragma unroll
    for (int piece = 0; piece < kPieces; ++piece)
#pragma unroll
      for (int n = 0; n < kPage / 8; ++n)
#pragma unroll
        for (int i = 0; i < 4; ++i) {
          const int token = tile * kPage + n * 8 + lane % 4 * 2 + i % 2;
          if (token > row + 16 * piece + lane / 4 + i / 2 * 8) s[piece][n][i] = kNothing;
        }
  }
  Fragment weights[kPieces][kStepsOfTile];
#pragma unroll
  for (int piece = 0; piece < kPieces; ++piece)
    weigh<T, kHeadDim>(sums, piece, s[piece], scale, weights[piece]);
  const unsigned values = keys + kPage * kHeadDim * 2;
#pragma unroll
  for (int step = 0; step < kStepsOfTile; ++step)
#pragma unroll
    for (int n = 0; n < kHeadDim / 16; ++n) {
      const Fragment b = load_values<kHeadDim>(values, step, n);
#pragma unroll
      for (int piece = 0; piece < kPieces; ++piece) {
        multiply<T>(sums.out[piece][2 * n], weights[piece][step], b.r[0], b.r[1]);
        multiply<T>(sums.out[piece][2 * n + 1], weights[piece][step], b.r[2], b.r[3]);
      }
    }
}

// The sequence's query of token t is row `base` + t, from token `before` on.
struct Sequence {
  int base, before, length;
};

template <typename T, int kHeadDim>
__device__ void write(const Attend& a, const Sums<kHeadDim>& sums, const Sequence& sequence,
                      int row) {
  const int lane = threadIdx.x % 32, head = blockIdx.y;
  const float scale = scale_in_order(a.scale);
#pragma unroll
  for (int piece = 0; piece < kPieces; ++piece)
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int own = row + 16 * piece + lane / 4 + 8 * half;
      if (own < sequence.before || own >= sequence.length) continue;
      const float sum = sums.weights[piece][2 * half];
      auto* out =
          a.out + (std::int64_t{sequence.base + own} * a.heads + head) * kHeadDim + lane % 4 * 2;
#pragma unroll
      for (int n = 0; n < kHeadDim / 8; ++n)
        *reinterpret_cast<unsigned*>(out + 8 * n) =
            mean_in_order<T>(sums.out[piece][n][2 * half], sums.out[piece][n][2 * half + 1], sum);
      if (lane % 4 == 0)
        a.log_normaliser[head * a.tokens + sequence.base + own] =
            (sums.largest[piece][half] * scale + log2f(sum)) * 0.693147181f;
    }
}

template <typename T, int kHeadDim>
__global__ void __launch_bounds__(kThreads) attend_kernel(Attend a) {
  extern __shared__ __align__(128) unsigned char memory[];
  constexpr unsigned kTileBytes = kPage * kHeadDim * 2;
  const int begin = a.key_offsets[blockIdx.z], length = a.key_offsets[blockIdx.z + 1] - begin;
  // Blocks are cut by a token's position in its sequence. Its tiles are therefore the same with and
  // without queries before it.
  const int queries_begin = a.offsets[blockIdx.z];
  const int before = length - (a.offsets[blockIdx.z + 1] - queries_begin);
  const Sequence sequence = {queries_begin - before, before, length};
  // The blocks with most work begin first.
  const int first = static_cast<int>(gridDim.x - 1 - blockIdx.x) * kRows;
  if (first >= length || first + kRows <= before) return;
  const int tiles = (min(first + kRows, length) - 1) / kPage + 1;
  const int key_head = blockIdx.y / (a.heads / a.kv_heads);
  const auto at = [&](const Half* rows, std::int64_t stride, int row, int head) {
    return rows + row * stride + std::int64_t{head} * kHeadDim;
  };
  const auto ring = static_cast<unsigned>(__cvta_generic_to_shared(memory));
  const unsigned queries = ring + kStages * 2 * kTileBytes;
  const auto fetch_tile = [&](int tile) {
    const unsigned to = ring + tile % kStages * 2 * kTileBytes;
    const int row = tile * kPage;
    const There there = {0, length - row};
    fetch<kHeadDim>(to, at(a.keys, a.key_stride, begin + row, key_head), a.key_stride, kPage,
                    there);
    fetch<kHeadDim>(to + kTileBytes, at(a.values, a.value_stride, begin + row, key_head),
                    a.value_stride, kPage, there);
  };
  fetch<kHeadDim>(queries, at(a.queries, a.query_stride, sequence.base + first, blockIdx.y),
                  a.query_stride, kRows, {max(before - first, 0), length - first});
  fetch_tile(0);
  commit_copies();
  const int own = threadIdx.x / 32 * kRowsOfWarp, row = first + own;
  const int last = row < length && row + kRowsOfWarp > before ? row / kPage : -1;
  const float scale = scale_in_order(a.scale);
  Sums<kHeadDim> sums = {};
#pragma unroll
  for (int piece = 0; piece < kPieces; ++piece)
    sums.largest[piece][0] = sums.largest[piece][1] = kNothing;
  for (int tile = 0; tile < tiles; ++tile) {
    wait_copies<0>();
    __syncthreads();  // this tile has arrived, and all warps have read the previous one
    if (tile + 1 < tiles) fetch_tile(tile + 1);
    commit_copies();
    if (tile <= last)
      absorb<T, kHeadDim>(sums, queries + own * kHeadDim * 2,
                          ring + tile % kStages * 2 * kTileBytes, tile, row, scale);
  }
  wait_copies<0>();
  write<T, kHeadDim>(a, sums, sequence, row);
}

template <typename T, int kHeadDim>
void launch(const Attend& a, cudaStream_t stream) {
  constexpr int kBytes = (kStages * 2 * kPage + kRows) * kHeadDim * 2;
  const dim3 grid((a.longest + kRows - 1) / kRows, a.heads, a.sequences);
  launch_with_memory<attend_kernel<T, kHeadDim>, kBytes>(grid, kThreads, a, stream);
}

}  // namespace

void launch_attend_in_order(const Attend& a, Stream stream) {
  if (a.tokens == 0) return;
  with_head<32, 64, 128>(a.type, a.head_dim, [&]<typename T, int kHeadDim>() {
    launch<T, kHeadDim>(a, stream_of(stream));
  });
}

}  // namespace tritonsmith::model::cuda
