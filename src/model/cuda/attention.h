// What the kernels of attention are given (kernels.h has their launches): the 16-bit numbers, the
// paged cache, one new token a sequence, packed sequences. Sizes are named as in kernels.h.
#pragma once

#include <cstdint>

namespace tritonsmith::model::cuda {

using Bf16 = std::uint16_t;  // the bits of a bfloat16
using Half = std::uint16_t;  // the bits of a number of the HalfType that stands beside it
enum class HalfType { bfloat16, float16 };

// Keys and values of all sequences in pages of kPage tokens: [pages, kv_heads, kPage, D] each for a
// layer. A slot's pages are named by its row of the page table.
inline constexpr int kPage = 64;
struct PagedCache {
  Half* keys;
  Half* values;
  const int* page_table;  // [slots, pages_per_slot]
  int pages_per_slot;
};

// Attention of one new token a row over its slot's cache. Each sequence is cut in `splits` parts
// that are read side by side and joined.
struct Decode {
  const Half* qkv;       // [rows, row_stride]: the queries come first
  int row_stride;        // in elements
  const int* slots;      // [rows]
  const int* positions;  // [rows]: tokens 0..position are attended to
  PagedCache cache;
  Half* out;                                    // [rows, heads D]
  float* part_out;                              // [rows, heads, splits, D], scratch
  float* part_norm;                             // [rows, heads, splits], scratch
  int rows, heads, kv_heads, head_dim, splits;  // heads / kv_heads at most 16
  float scale;
  HalfType type = HalfType::bfloat16;
};

// Causal attention of packed sequences with the sums of in_order.cuh. Rows lie `stride` elements
// apart, heads behind each other. A sequence may have more keys than queries: these are then of its
// last tokens.
struct Attend {
  const Half* queries;  // [T, heads, D]
  const Half* keys;     // [K, kv_heads, D]
  const Half* values;
  std::int64_t query_stride, key_stride, value_stride;
  const int* offsets;             // [sequences + 1], of queries
  const int* key_offsets;         // likewise
  Half* out;                      // [T, heads, D], contiguous
  float* log_normaliser;          // [heads, T], natural
  std::int64_t tokens;            // T
  int sequences, longest;         // by keys
  int heads, kv_heads, head_dim;  // head_dim 32, 64 or 128
  float scale;
  HalfType type = HalfType::bfloat16;
};

}  // namespace tritonsmith::model::cuda
