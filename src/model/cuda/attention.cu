// Attention of one new token for each sequence over a paged cache, for grouped queries. The cost is
// that of reading the cache once. A block takes one part of one sequence's tokens and one key-value
// head. All queries of the head's group are multiplied together in the tensor cores (mma m16n8k16,
// the group padded to 16 rows).
//
// Each warp of a block streams tiles of 16 tokens through its own ring in shared memory, filled
// ahead by asynchronous copies. It keeps its own running softmax ("Online normalizer calculation
// for softmax", arXiv 1805.02867). The block joins its warps at the end. A second kernel joins the
// parts of a sequence ("Flash-Decoding").
#include "model/cuda/launches.h"
#include "model/cuda/tensor_core.cuh"

namespace tritonsmith::model::cuda {
namespace {

constexpr int kWarps = 4;
constexpr int kThreads = 32 * kWarps;
constexpr int kTile = 16;   // tokens
constexpr int kStages = 3;  // tiles of a warp in flight or in use
constexpr int kGroup = 16;  // rows of queries
constexpr float kNothing = -INFINITY;

// The running softmax of a warp. Lane l holds rows l / 4 and l / 4 + 8 of the group. Of each eight
// columns of D it holds the two from 2 (l % 4) on.
template <int kHeadDim>
struct State {
  float out[kHeadDim / 8][4];
  float largest[2], sum[2];
};

// The work of one block.
struct Part {
  int slot, length, first_tile, last_tile;
};

__device__ Part part_of(const Decode& a) {
  Part part = {a.slots[blockIdx.z], 0, 0, 0};
  if (part.slot < 0) return part;
  part.length = a.positions[blockIdx.z] + 1;
  const int tiles = (part.length + kTile - 1) / kTile;
  const int each = (tiles + a.splits - 1) / a.splits;
  part.first_tile = min(static_cast<int>(blockIdx.x) * each, tiles);
  part.last_tile = min(part.first_tile + each, tiles);
  return part;
}

// Starts the copy of a tile of keys and values into one stage of the warp's ring.
template <int kHeadDim>
__device__ void fetch(const Decode& a, const Part& part, int tile, unsigned stage) {
  constexpr int kChunks = kHeadDim / 8;
  const int begin = tile * kTile;
  const std::int64_t page =
      a.cache.page_table[std::int64_t{part.slot} * a.cache.pages_per_slot + begin / kPage];
  const std::int64_t at = ((page * a.kv_heads + blockIdx.y) * kPage + begin % kPage) * kHeadDim;
#pragma unroll
  for (int i = threadIdx.x % 32; i < kTile * kChunks; i += 32) {
    const int row = i / kChunks, chunk = i % kChunks;
    const bool is_there = begin + row < part.length;
    const unsigned to = stage + chunk_offset<kHeadDim>(row, chunk);
    copy_async(to, a.cache.keys + at + row * kHeadDim + chunk * 8, is_there);
    copy_async(to + kTile * kHeadDim * 2, a.cache.values + at + row * kHeadDim + chunk * 8,
               is_there);
  }
}

// Computes the scores of the group against a tile: [16, 16] as two pieces of eight tokens.
template <typename T, int kHeadDim>
__device__ void score(const Fragment (&query)[kHeadDim / 16], unsigned keys, float (&s)[2][4]) {
  const int lane = threadIdx.x % 32;
  // Order of the matrices: (tokens 0-7, low half), (0-7, high), (8-15, low), (8-15, high).
  const int row = lane % 8 + lane / 16 * 8, half = lane / 8 % 2;
#pragma unroll
  for (int k = 0; k < kHeadDim / 16; ++k) {
    const Fragment b = load_matrices(keys + chunk_offset<kHeadDim>(row, 2 * k + half));
    multiply<T>(s[0], query[k], b.r[0], b.r[1]);
    multiply<T>(s[1], query[k], b.r[2], b.r[3]);
  }
}

// Adds the tile's tokens to the running softmax. Scores are in units of log 2.
template <typename T, int kHeadDim>
__device__ void absorb(State<kHeadDim>& state, float (&s)[2][4], unsigned values) {
  const int lane = threadIdx.x % 32;
#pragma unroll
  for (int row = 0; row < 2; ++row) {
    float largest =
        fmaxf(fmaxf(s[0][2 * row], s[0][2 * row + 1]), fmaxf(s[1][2 * row], s[1][2 * row + 1]));
    largest = fmaxf(largest, __shfl_xor_sync(0xffffffffu, largest, 1));
    largest = fmaxf(largest, __shfl_xor_sync(0xffffffffu, largest, 2));
    largest = fmaxf(largest, state.largest[row]);  // finite, because a tile has at least one token
    const float shrink = exp2f(state.largest[row] - largest);
    state.largest[row] = largest;
    float sum = 0;
#pragma unroll
    for (int piece = 0; piece < 2; ++piece)
#pragma unroll
      for (int i = 2 * row; i < 2 * row + 2; ++i) {
        s[piece][i] = exp2f(s[piece][i] - largest);
        sum += s[piece][i];
      }
    sum += __shfl_xor_sync(0xffffffffu, sum, 1);
    sum += __shfl_xor_sync(0xffffffffu, sum, 2);
    state.sum[row] = state.sum[row] * shrink + sum;
#pragma unroll
    for (int n = 0; n < kHeadDim / 8; ++n) {
      state.out[n][2 * row] *= shrink;
      state.out[n][2 * row + 1] *= shrink;
    }
  }
  const Fragment weights = {T::pack(s[0][0], s[0][1]), T::pack(s[0][2], s[0][3]),
                            T::pack(s[1][0], s[1][1]), T::pack(s[1][2], s[1][3])};
  // Order of the matrices: (tokens 0-7, columns 0-7), (8-15, 0-7), (0-7, 8-15), (8-15, 8-15).
  const int row = lane % 16, half = lane / 16;
#pragma unroll
  for (int n = 0; n < kHeadDim / 16; ++n) {
    const Fragment b = load_matrices_transposed(values + chunk_offset<kHeadDim>(row, 2 * n + half));
    multiply<T>(state.out[2 * n], weights, b.r[0], b.r[1]);
    multiply<T>(state.out[2 * n + 1], weights, b.r[2], b.r[3]);
  }
}

template <typename T, int kHeadDim>
__device__ void stream_tiles(const Decode& a, const Part& part, unsigned ring,
                             State<kHeadDim>& state) {
  constexpr unsigned kStageBytes = 2 * kTile * kHeadDim * 2;
  Fragment query[kHeadDim / 16];
  read_queries<kHeadDim>(a, blockIdx.z, blockIdx.y, query);
  const int first = part.first_tile + threadIdx.x / 32;
  int ahead = first;
#pragma unroll
  for (int stage = 0; stage < kStages - 1; ++stage, ahead += kWarps) {
    if (ahead < part.last_tile) fetch<kHeadDim>(a, part, ahead, ring + stage * kStageBytes);
    commit_copies();
  }
  int stage = 0;
  const float scale = a.scale * 1.44269504f;  // 1 / log 2
  for (int tile = first; tile < part.last_tile; tile += kWarps, ahead += kWarps) {
    wait_copies<kStages - 2>();
    __syncwarp();  // all lanes' copies have arrived, and all lanes have read the stage to fill
    const int next = stage == 0 ? kStages - 1 : stage - 1;
    if (ahead < part.last_tile) fetch<kHeadDim>(a, part, ahead, ring + next * kStageBytes);
    commit_copies();
    const unsigned keys = ring + stage * kStageBytes;
    float s[2][4] = {};
    score<T, kHeadDim>(query, keys, s);
#pragma unroll
    for (int piece = 0; piece < 2; ++piece)
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const int token = tile * kTile + piece * 8 + threadIdx.x % 4 * 2 + i % 2;
        s[piece][i] = token < part.length ? s[piece][i] * scale : kNothing;
      }
    absorb<T, kHeadDim>(state, s, keys + kStageBytes / 2);
    stage = stage == kStages - 1 ? 0 : stage + 1;
  }
  wait_copies<0>();
}

// Joins the warps through shared memory and writes the block's result. For a sequence in one part
// that is the attention itself. Otherwise it is this part's mean of values and the log2 of its sum
// of weights.
template <typename T, int kHeadDim>
__device__ void finish(const Decode& a, const State<kHeadDim>& state, unsigned char* memory) {
  auto* out = reinterpret_cast<float*>(memory);  // [warps, kGroup, D]
  __shared__ float largest[kWarps][kGroup], sum[kWarps][kGroup];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  __syncthreads();  // all warps have finished with their rings, whose memory `out` uses
  for (int row = 0; row < 2; ++row) {
    const int q = lane / 4 + 8 * row;
    if (lane % 4 == 0) largest[warp][q] = state.largest[row], sum[warp][q] = state.sum[row];
    for (int n = 0; n < kHeadDim / 8; ++n)
      for (int i = 0; i < 2; ++i)
        out[(warp * kGroup + q) * kHeadDim + n * 8 + lane % 4 * 2 + i] = state.out[n][2 * row + i];
  }
  __syncthreads();
  const int group = a.heads / a.kv_heads;
  for (int i = threadIdx.x; i < group * kHeadDim; i += kThreads) {
    const int q = i / kHeadDim, column = i % kHeadDim;
    float most = kNothing, total = 0, value = 0;
    for (int w = 0; w < kWarps; ++w) most = fmaxf(most, largest[w][q]);
    for (int w = 0; w < kWarps; ++w) {
      const float weight = largest[w][q] == kNothing ? 0.0f : exp2f(largest[w][q] - most);
      total += weight * sum[w][q];
      value += weight * out[(w * kGroup + q) * kHeadDim + column];
    }
    const std::int64_t head = std::int64_t{blockIdx.z} * a.heads + blockIdx.y * group + q;
    const float mean = total > 0 ? value / total : 0.0f;
    if (a.splits == 1) {
      a.out[head * kHeadDim + column] = T::from_float(mean);
      continue;
    }
    const std::int64_t part = head * a.splits + blockIdx.x;
    a.part_out[part * kHeadDim + column] = mean;
    if (column == 0) a.part_norm[part] = total > 0 ? most + log2f(total) : kNothing;
  }
}

template <typename T, int kHeadDim>
__global__ void __launch_bounds__(kThreads) decode_kernel(Decode a) {
  extern __shared__ __align__(128) unsigned char memory[];
  constexpr unsigned kRingBytes = kStages * 2 * kTile * kHeadDim * 2;
  const Part part = part_of(a);
  State<kHeadDim> state = {};
  state.largest[0] = state.largest[1] = kNothing;
  const unsigned ring =
      static_cast<unsigned>(__cvta_generic_to_shared(memory)) + threadIdx.x / 32 * kRingBytes;
  if (part.first_tile < part.last_tile) stream_tiles<T, kHeadDim>(a, part, ring, state);
  finish<T, kHeadDim>(a, state, memory);
}

// One block for each row and head.
template <typename T>
__global__ void join_parts_kernel(Decode a) {
  const std::int64_t head = blockIdx.x;
  const float* norms = a.part_norm + head * a.splits;
  float most = kNothing;
  for (int part = 0; part < a.splits; ++part) most = fmaxf(most, norms[part]);
  float total = 0, value = 0;
  for (int part = 0; part < a.splits && most != kNothing; ++part) {
    const float weight = exp2f(norms[part] - most);
    total += weight;
    value += weight * a.part_out[(head * a.splits + part) * a.head_dim + threadIdx.x];
  }
  a.out[head * a.head_dim + threadIdx.x] = T::from_float(total > 0 ? value / total : 0.0f);
}

template <typename T, int kHeadDim>
void launch(const Decode& a, cudaStream_t stream) {
  constexpr int kRing = kWarps * kStages * 2 * kTile * kHeadDim * 2;
  constexpr int kJoin = kWarps * kGroup * kHeadDim * 4;
  constexpr int kBytes = kRing > kJoin ? kRing : kJoin;
  const dim3 grid(a.splits, a.kv_heads, a.rows);
  launch_with_memory<decode_kernel<T, kHeadDim>, kBytes>(grid, kThreads, a, stream);
  if (a.splits > 1) join_parts_kernel<T><<<a.rows * a.heads, kHeadDim, 0, stream>>>(a);
}

}  // namespace

void launch_decode(const Decode& a, Stream stream) {
  if (a.rows == 0) return;
  with_head<32, 64, 128>(a.type, a.head_dim, [&]<typename T, int kHeadDim>() {
    launch<T, kHeadDim>(a, stream_of(stream));
  });
}

}  // namespace tritonsmith::model::cuda
