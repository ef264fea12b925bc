// Shared code of the two decode kernels with the sums of in_order.cuh. A block takes one sequence
// and one key-value head. Each of its four warps sums pieces of sixteen output columns.
#pragma once

#include "model/cuda/in_order.cuh"

namespace tritonsmith::model::cuda {
namespace {

constexpr int kWarps = kStepsOfTile;
constexpr int kGroup = 16;
constexpr float kNothing = -INFINITY;

// The number of pieces of sixteen columns that a warp sums.
template <int kHeadDim>
constexpr int kPiecesOfWarp = (kHeadDim / 16 + kWarps - 1) / kWarps;

template <int kHeadDim>
struct Sums {
  float out[kPiecesOfWarp<kHeadDim>][2][4];
  float weights[4];
  float largest[2];
};

// Masks a warp's scores of its sixteen tokens of a page: tokens from `there` on do not exist.
__device__ inline void leave_out(int there, float (&s)[2][4]) {
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
#pragma unroll
  for (int piece = 0; piece < 2; ++piece)
#pragma unroll
    for (int i = 0; i < 4; ++i)
      if (16 * warp + 8 * piece + lane % 4 * 2 + i % 2 >= there) s[piece][i] = kNothing;
}
__device__ inline float largest_score(const float (&s)[2][4], int row) {
  return largest_of_row(
      fmaxf(fmaxf(s[0][2 * row], s[0][2 * row + 1]), fmaxf(s[1][2 * row], s[1][2 * row + 1])));
}

// Writes the output. A row without a slot becomes zero.
template <typename T, int kHeadDim>
__device__ void write(const Decode& a, const Sums<kHeadDim>& sums, int warp) {
  const int group = a.heads / a.kv_heads, lane = threadIdx.x % 32;
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    const int query = lane / 4 + 8 * half;
    if (query >= group) continue;
    const float sum = sums.weights[2 * half];
    const std::int64_t head =
        std::int64_t{blockIdx.y} * a.heads + std::int64_t{blockIdx.x} * group + query;
#pragma unroll
    for (int piece = 0; piece < kPiecesOfWarp<kHeadDim>; ++piece) {
      const int n = warp + piece * kWarps;
      if (n >= kHeadDim / 16) break;
#pragma unroll
      for (int side = 0; side < 2; ++side) {
        const float* out = sums.out[piece][side] + 2 * half;
        *reinterpret_cast<unsigned*>(a.out + head * kHeadDim + 16 * n + 8 * side + lane % 4 * 2) =
            sum > 0 ? mean_in_order<T>(out[0], out[1], sum) : 0u;
      }
    }
  }
}

}  // namespace
}  // namespace tritonsmith::model::cuda
