// Shared code of the attention kernels: tiles in shared memory, filled by asynchronous copies, and
// the 16-bit tensor core instruction m16n8k16 with its operands.
#pragma once

#include <type_traits>

#include "model/cuda/attention.h"
#include "model/cuda/common.cuh"

namespace tritonsmith::model::cuda {

// Layout of a tile in shared memory: rows of D elements in chunks of 16 bytes. Chunks are permuted
// within a row, so that the same chunk of eight rows lies in different banks.
template <int kHeadDim>
__device__ inline int chunk_offset(int row, int chunk) {
  constexpr int kChunks = kHeadDim / 8;
  const int swizzle = kChunks >= 8 ? row & 7 : (row >> 1) & (kChunks - 1);
  return (row * kChunks + (chunk ^ swizzle)) * 16;
}

__device__ inline void copy_async(unsigned to, const void* from, bool is_there) {
  const int bytes = is_there ? 16 : 0;  // the remaining bytes of the 16 become zero
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(from), "r"(bytes));
}
__device__ inline void commit_copies() { asm volatile("cp.async.commit_group;"); }
template <int kLeft>
__device__ inline void wait_copies() {
  asm volatile("cp.async.wait_group %0;" ::"n"(kLeft) : "memory");
}

struct alignas(16) Fragment {
  unsigned r[4];
};

__device__ inline Fragment load_matrices(unsigned address) {
  Fragment f;
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
               : "=r"(f.r[0]), "=r"(f.r[1]), "=r"(f.r[2]), "=r"(f.r[3])
               : "r"(address)
               : "memory");
  return f;
}
__device__ inline Fragment load_matrices_transposed(unsigned address) {
  Fragment f;
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];"
               : "=r"(f.r[0]), "=r"(f.r[1]), "=r"(f.r[2]), "=r"(f.r[3])
               : "r"(address)
               : "memory");
  return f;
}

// Reads a row's queries of the group that shares a key-value head, as left operands. Rows beyond
// the group are zero.
template <int kHeadDim>
__device__ void read_queries(const Decode& a, unsigned row, unsigned kv_head,
                             Fragment (&query)[kHeadDim / 16]) {
  const int group = a.heads / a.kv_heads, lane = threadIdx.x % 32;
  const Half* base =
      a.qkv + std::int64_t{row} * a.row_stride + std::int64_t{kv_head} * group * kHeadDim;
#pragma unroll
  for (int k = 0; k < kHeadDim / 16; ++k)
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const int head = lane / 4 + i % 2 * 8, column = k * 16 + i / 2 * 8 + lane % 4 * 2;
      query[k].r[i] =
          head < group ? *reinterpret_cast<const unsigned*>(base + head * kHeadDim + column) : 0u;
    }
}

// c += a · b for a [16, 16], b [16, 8].
template <typename T>
__device__ inline void multiply(float (&c)[4], const Fragment& a, unsigned b0, unsigned b1) {
  if constexpr (std::is_same_v<T, AsFp16>)
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "
        "{%0,%1,%2,%3};"
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
        : "r"(a.r[0]), "r"(a.r[1]), "r"(a.r[2]), "r"(a.r[3]), "r"(b0), "r"(b1));
  else
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, "
        "{%8,%9}, {%0,%1,%2,%3};"
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
        : "r"(a.r[0]), "r"(a.r[1]), "r"(a.r[2]), "r"(a.r[3]), "r"(b0), "r"(b1));
}

}  // namespace tritonsmith::model::cuda
