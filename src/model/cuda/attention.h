// Declares the arguments of the attention kernels (kernels.h has their launches): 16-bit numbers,
// the paged cache, one new token for each sequence, packed sequences. The names of sizes are those
// of kernels.h.
#pragma once

#include <cstdint>

namespace tritonsmith::model::cuda {

using Bf16 = std::uint16_t;  // the bits of a bfloat16
using Half = std::uint16_t;  // the bits of a number; a HalfType beside it gives its type
enum class HalfType { bfloat16, float16 };

// Keys and values of all sequences in pages of kPage tokens: [pages, kv_heads, kPage, D] each, for
// one layer. A slot's row of the page table lists its pages.
inline constexpr int kPage = 64;
struct PagedCache {
  Half* keys;
  Half* values;
  const int* page_table;  // [slots, pages_per_slot]
  int pages_per_slot;
};

// Attention of one new token in each row over its slot's cache. Each sequence is cut into `splits`
// parts, which are read side by side and then joined.
struct Decode {
  const Half* qkv;       // [rows, row_stride], the queries first
  int row_stride;        // in elements
  const int* slots;      // [rows]
  const int* positions;  // [rows]: a row attends to tokens 0..position
  PagedCache cache;
  Half* out;                                    // [rows, heads D]
  float* part_out;                              // [rows, heads, splits, D], scratch
  float* part_norm;                             // [rows, heads, splits], scratch
  int rows, heads, kv_heads, head_dim, splits;  // heads / kv_heads is at most 16
  float scale;
  HalfType type = HalfType::bfloat16;
};

// Causal attention of packed sequences with the sums of in_order.cuh. Rows lie `stride` elements
// apart; the heads of a row are contiguous. A sequence may have more keys than queries. The queries
// are then those of its last tokens.
struct Attend {
  const Half* queries;  // [T, heads, D]
  const Half* keys;     // [K, kv_heads, D]
  const Half* values;
  std::int64_t query_stride, key_stride, value_stride;
  const int* offsets;             // [sequences + 1], in queries
  const int* key_offsets;         // [sequences + 1], in keys
  Half* out;                      // [T, heads, D], contiguous
  float* log_normaliser;          // [heads, T], natural logarithm
  std::int64_t tokens;            // T
  int sequences, longest;         // longest: in keys
  int heads, kv_heads, head_dim;  // head_dim 32, 64 or 128
  float scale;
  HalfType type = HalfType::bfloat16;
};

}  // namespace tritonsmith::model::cuda
