// The arithmetic of attention in one fixed order. Trainer, prompt reading and decoding share it
// (model/config/sums.h). A query's result therefore has the same bits in every kernel and every batch.
//   - Keys come in tiles of kPage, from the first token of the sequence on.
//   - A score is the tensor core's sum over D, sixteen elements at a time, ascending.
//   - The weights of a tile are 2^((score - m) scale), rounded to 16 bits. m is the largest score
//     of this tile and those before it. Earlier sums shrink by 2^((m before - m) scale).
//   - The output and the normaliser (the rounded weights times one) are the tensor core's sums over
//     tokens: sixteen at a time, ascending, tile after tile. Masked tokens have weight 0.
//   - One division at the end gives the output.
// Every operation names its rounding, so that the compiler cannot choose another.
#pragma once

#include "model/cuda/tensor_core.cuh"

namespace tritonsmith::model::cuda {

constexpr int kStepsOfTile = kPage / 16;

__device__ inline float exp2_in_order(float x) {
  float y;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}

// Converts the scale for powers of two.
__device__ inline float scale_in_order(float scale) { return __fmul_rn(scale, 1.44269504f); }

__device__ inline float shrink_in_order(float before, float now, float scale) {
  return exp2_in_order(__fmul_rn(__fsub_rn(before, now), scale));
}

// Returns the largest of a row's scores in two pieces of eight tokens, over the four lanes that
// share the row. The result is exact, so its order is free.
__device__ inline float largest_of_row(float value) {
  value = fmaxf(value, __shfl_xor_sync(0xffffffffu, value, 1));
  return fmaxf(value, __shfl_xor_sync(0xffffffffu, value, 2));
}

// The weights of sixteen tokens, as the left operand of their product with the values. In both
// pieces of scores, elements 0 and 1 belong to row lane / 4, and elements 2 and 3 to the row eight
// below.
template <typename T>
__device__ inline Fragment weights_in_order(const float (&low)[4], const float (&high)[4],
                                            const float (&largest)[2], float scale) {
  const float offset[2] = {-__fmul_rn(largest[0], scale), -__fmul_rn(largest[1], scale)};
  const auto weight = [&](float score, int row) {
    return exp2_in_order(__fmaf_rn(score, scale, offset[row]));
  };
  return {T::pack(weight(low[0], 0), weight(low[1], 0)),
          T::pack(weight(low[2], 1), weight(low[3], 1)),
          T::pack(weight(high[0], 0), weight(high[1], 0)),
          T::pack(weight(high[2], 1), weight(high[3], 1))};
}

__device__ inline void shrink(float (&sums)[4], const float (&by)[2]) {
  sums[0] = __fmul_rn(sums[0], by[0]), sums[1] = __fmul_rn(sums[1], by[0]);
  sums[2] = __fmul_rn(sums[2], by[1]), sums[3] = __fmul_rn(sums[3], by[1]);
}

// sum += weights · 1, in every column.
template <typename T>
__device__ inline void add_weights(float (&sum)[4], const Fragment& weights) {
  const unsigned ones = T::pack(1.0f, 1.0f);
  multiply<T>(sum, weights, ones, ones);
}

// Loads keys 16 pair .. 16 pair + 15 as right operands of the scores, elements 16 k .. 16 k + 15 of
// D.
template <int kHeadDim>
__device__ inline Fragment load_keys(unsigned keys, int pair, int k) {
  const int lane = threadIdx.x % 32;
  // Order of the matrices: (tokens 0-7, low half), (0-7, high), (8-15, low), (8-15, high).
  const int row = 16 * pair + lane % 8 + lane / 16 * 8, half = lane / 8 % 2;
  return load_matrices(keys + chunk_offset<kHeadDim>(row, 2 * k + half));
}

// Loads the values of tokens 16 step .. 16 step + 15, columns 16 n .. 16 n + 15.
template <int kHeadDim>
__device__ inline Fragment load_values(unsigned values, int step, int n) {
  const int lane = threadIdx.x % 32;
  // Order of the matrices: (tokens 0-7, columns 0-7), (8-15, 0-7), (0-7, 8-15), (8-15, 8-15).
  return load_matrices_transposed(values +
                              chunk_offset<kHeadDim>(16 * step + lane % 16, 2 * n + lane / 16));
}

// Packs two neighbouring columns of a row's output.
template <typename T>
__device__ inline unsigned mean_in_order(float low, float high, float sum) {
  return T::pack(__fdiv_rn(low, sum), __fdiv_rn(high, sum));
}

}  // namespace tritonsmith::model::cuda
