// Keys and values of sequences with shared prefixes. They are laid out sequence by sequence for
// attention, and their gradients are summed in the backward.
#include "model/cuda/common.cuh"
#include "model/cuda/launches.h"

namespace tritonsmith::model::cuda {
namespace {

constexpr int kThreads = 256;
constexpr int kChunk = 8;  // elements of 16 bytes

// A thread takes one chunk of a row.
__global__ void __launch_bounds__(kThreads) gather_kernel(GatherRows a) {
  const int chunks = a.columns / kChunk;
  const std::int64_t i = std::int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (i >= a.count * chunks) return;
  const std::int64_t row = i / chunks, column = i % chunks * kChunk;
  *reinterpret_cast<uint4*>(a.out + row * a.columns + column) =
      *reinterpret_cast<const uint4*>(a.rows_in + a.rows[row] * a.stride + column);
}

__global__ void __launch_bounds__(kThreads) sum_kernel(SumRows a) {
  const int chunks = a.columns / kChunk;
  const std::int64_t i = std::int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (i >= a.count * chunks) return;
  const std::int64_t row = i / chunks, column = i % chunks * kChunk;
  float sum[kChunk] = {};
  for (int u = a.use_offsets[row]; u < a.use_offsets[row + 1]; ++u) {
    const uint4 part =
        *reinterpret_cast<const uint4*>(a.rows_in + std::int64_t{a.uses[u]} * a.columns + column);
    const unsigned pairs[] = {part.x, part.y, part.z, part.w};
#pragma unroll
    for (int p = 0; p < kChunk / 2; ++p) {
      sum[2 * p] += low_bf16(pairs[p]);
      sum[2 * p + 1] += high_bf16(pairs[p]);
    }
  }
  *reinterpret_cast<uint4*>(a.out + row * a.columns + column) =
      make_uint4(pack_bf16(sum[0], sum[1]), pack_bf16(sum[2], sum[3]), pack_bf16(sum[4], sum[5]),
                 pack_bf16(sum[6], sum[7]));
}

unsigned blocks_of(std::int64_t rows, int columns) {
  return static_cast<unsigned>((rows * (columns / kChunk) + kThreads - 1) / kThreads);
}

}  // namespace

void launch_gather_rows(const GatherRows& a, Stream stream) {
  if (a.count == 0) return;
  gather_kernel<<<blocks_of(a.count, a.columns), kThreads, 0, stream_of(stream)>>>(a);
}

void launch_sum_rows(const SumRows& a, Stream stream) {
  if (a.count == 0) return;
  sum_kernel<<<blocks_of(a.count, a.columns), kThreads, 0, stream_of(stream)>>>(a);
}

}  // namespace tritonsmith::model::cuda
