// Launches our own CUDA kernels over device pointers. This header does not include LibTorch, so
// that nvcc compiles it quickly. The kernels are compiled if the build has nvcc (cmake/nvcc.cmake)
// and are part of the program; otherwise kernels() is null. Every launch is asynchronous on its
// stream, allocates nothing and may be captured into a graph. Sums have a fixed order, so equal
// inputs give equal bits.
//
// T is the number of tokens, H the hidden size, I the inner size of the MLP, D the head size, V the
// vocabulary. 16-bit data and its rows are 16-byte aligned. The forward computes in bfloat16 or
// float16; gradients are bfloat16.
#pragma once

#include <cstdint>

#include "model/cuda/attention.h"
#include "model/cuda/runtime.h"

namespace tritonsmith::model::cuda {

// out = x / rms(x) * weight; x [rows, H]. Each of `parts` is first added to x in place, one after
// the other.
struct Norm {
  float* x;             // changed only by `parts`
  const float* weight;  // [H]
  Half* out;            // [rows, H]
  std::int64_t rows;
  int hidden;  // a multiple of 4, at most 16384
  float eps;
  HalfType type = HalfType::bfloat16;
  const float* parts = nullptr;  // [part_count, rows, H], part_step elements apart
  int part_count = 0;            // 0, 2 or 4
  std::int64_t part_step = 0;
};

// d_x = d_residual + d norm / d x · d_out. If `d_x_half` is given, it receives d_x as bfloat16. The
// kernel adds to d_weight.
struct NormBackward {
  const float* x;
  const float* weight;
  const Bf16* d_out;
  const float* d_residual;  // null: no residual gradient
  float* d_x;
  Bf16* d_x_half;   // may be null
  float* partials;  // [kNormParts, H], scratch
  float* d_weight;  // [H]
  std::int64_t rows;
  int hidden;  // a multiple of 4, at most 16384
  float eps;
};
inline constexpr int kNormParts = 1056;

// RoPE in place on q and k of packed projections [T, (heads + 2 kv_heads) D]. Pairs are Hugging
// Face's: i with i + D / 2. With a cache, the kernel also stores keys and values there.
struct Rope {
  Half* qkv;
  const float* cos;  // [positions, D / 2]
  const float* sin;
  const int* positions;  // [T]
  const float* q_norm;   // [D] or null: normalises each head before RoPE (Qwen3)
  const float* k_norm;
  const int* slots;  // [T], -1: the token is not stored; null: no cache
  PagedCache cache;
  std::int64_t tokens;
  int heads, kv_heads, head_dim;  // head_dim 32, 64, 128 or 256
  float eps;
  HalfType type = HalfType::bfloat16;
};

// Converts the gradients of rotated q and k and of v into that of the packed projections. If heads
// are normalised, `raw` has the projections before the norm, and the kernel adds to the gradients
// of the norms.
struct RopeBackward {
  const Bf16* d_query;  // [T, heads, D]
  const Bf16* d_key;    // [T, kv_heads, D]
  const Bf16* d_value;
  Bf16* d_qkv;  // [T, (heads + 2 kv_heads) D]
  const float* cos;
  const float* sin;
  const int* positions;
  const Half* raw;      // shaped as d_qkv; null if heads are not normalised
  const float* q_norm;  // [D]
  const float* k_norm;
  float* partials;  // [kRopeParts, 2, D], scratch
  float* d_q_norm;  // [D]
  float* d_k_norm;
  std::int64_t tokens;
  int heads, kv_heads, head_dim;
  float eps;
  HalfType type = HalfType::bfloat16;  // type of `raw`
};
inline constexpr int kRopeParts = 1056;

// out = factor * silu(gate) * up. gate_up is [T, 2 I] with the gates first; I is a multiple of 8.
struct SwiGlu {
  const Half* gate_up;
  Half* out;  // [T, I]
  std::int64_t tokens;
  int inner;
  HalfType type = HalfType::bfloat16;
  float factor = 1;
};
// In place: gate_up becomes its gradient, and d_out becomes silu(gate) * up. Both results are
// bfloat16.
struct SwiGluBackward {
  Half* gate_up;
  Bf16* d_out;
  std::int64_t tokens;
  int inner;
  HalfType type = HalfType::bfloat16;  // type of gate_up on entry
};

// For each row of logits [rows, V]: log-probability of the target, entropy, and log of the
// normaliser. The first two are 0 if the target is negative. V is a multiple of 4.
struct HeadRows {
  const float* logits;
  const std::int64_t* targets;
  float* logprob;
  float* entropy;
  float* log_normaliser;
  std::int64_t rows;
  int vocabulary;
  float inverse_temperature;
};
// d_logits [rows, V] from d_logprob and d_entropy.
struct HeadRowsBackward {
  const float* logits;
  const std::int64_t* targets;
  const float* entropy;
  const float* log_normaliser;
  const float* d_logprob;
  const float* d_entropy;  // may be null
  Bf16* d_logits;
  std::int64_t rows;
  int vocabulary;
  float inverse_temperature;
};

// One AdamW update (train/optimizer/adamw.h) over flat buffers. It multiplies the gradients by gradient_scale
// first. It also writes the new weights as 16-bit numbers.
struct AdamW {
  float* weights;
  const float* gradients;
  float* first;
  float* second;
  Half* half;  // may be null
  // The first `decayed` weights take weight decay. Both counts are multiples of 4.
  std::int64_t count, decayed;
  float learning_rate, beta1, beta2, epsilon, weight_decay;
  float correction1, correction2;  // 1 - beta^t
  float gradient_scale;
  HalfType type = HalfType::bfloat16;  // type of `half`
};

// The state of each slot in a decode step. The arrays are indexed by slot.
struct SlotArrays {
  int* token;     // the next token to decode
  int* position;  // the position of `token`
  int* drawn;     // tokens sampled so far, which is the number of the next draw
  std::uint64_t* seed;
  float* temperature;  // 0: greedy sampling
  float* top_p;
  int* top_k;  // 0: no limit
};

// Looks up x and the position of each row's token. A row with slot -1 gets token 0 at position 0.
struct Embed {
  const float* table;  // [V, H]
  const int* slots;    // [rows]
  SlotArrays arrays;
  float* x;        // [rows, H]
  int* positions;  // [rows]
  std::int64_t rows;
  int hidden;  // a multiple of 4
};

// Samples a token for each row (sampling.cu has the method) and advances the row's slot.
struct Sample {
  const float* logits;    // [*, V]
  const int* logits_row;  // [rows]: the row of logits to sample from; null: the same row
  const int* slots;       // [rows]; -1: no sample
  SlotArrays arrays;
  int* tokens;      // [rows] out; -1 if the logits are not finite
  float* logprobs;  // [rows] out
  int rows, vocabulary;
};

// Copies pages from[i] -> to[i] of keys and values in every layer.
struct CopyPages {
  Half* keys;  // [layers, pages, kv_heads, kPage, D]
  Half* values;
  const int* from;
  const int* to;
  int pairs, layers;
  std::int64_t pages, page_elements;  // elements of one page in one layer: kv_heads * kPage * D
};

// out[i] = rows_in[rows[i]], for any 16-bit type.
struct GatherRows {
  const Half* rows_in;  // [*, columns], `stride` elements apart
  std::int64_t stride;
  const int* rows;  // [count]
  Half* out;        // [count, columns]
  std::int64_t count;
  int columns;  // a multiple of 8
};
// out[i] = the sum of rows_in[uses[u]] over u in [use_offsets[i], use_offsets[i + 1]). The sum is
// taken in that order in float32 and rounded once.
struct SumRows {
  const Bf16* rows_in;  // [*, columns]
  const int* uses;
  const int* use_offsets;  // [count + 1]
  Bf16* out;               // [count, columns]
  std::int64_t count;
  int columns;  // a multiple of 8
};

struct Kernels {
  void (*norm)(const Norm&, Stream);
  void (*norm_backward)(const NormBackward&, Stream);
  void (*rope)(const Rope&, Stream);
  void (*rope_backward)(const RopeBackward&, Stream);
  void (*swiglu)(const SwiGlu&, Stream);
  void (*swiglu_backward)(const SwiGluBackward&, Stream);
  void (*head_rows)(const HeadRows&, Stream);
  void (*head_rows_backward)(const HeadRowsBackward&, Stream);
  void (*adamw)(const AdamW&, Stream);
  void (*embed)(const Embed&, Stream);
  void (*decode)(const Decode&, Stream);
  // The same with the sums of in_order.cuh. It ignores `splits` and the scratch memory.
  void (*decode_in_order)(const Decode&, Stream);
  void (*attend_in_order)(const Attend&, Stream);
  void (*gather_rows)(const GatherRows&, Stream);
  void (*sum_rows)(const SumRows&, Stream);
  void (*sample)(const Sample&, Stream);
  void (*copy_pages)(const CopyPages&, Stream);
  Runtime runtime;
};

// Returns null if the build had no nvcc. The code is for compute capability 9.0 and later.
const Kernels* kernels();

}  // namespace tritonsmith::model::cuda
