// Our own CUDA kernels as plain launches over device pointers: no LibTorch here, so that nvcc is
// quick. They are compiled where nvcc is (cmake/nvcc.cmake) and carried in the program; kernels()
// is null in a build without them. Every launch is asynchronous on its stream, allocates nothing
// and may be captured into a graph. Sums are taken in a fixed order: the same inputs give the same
// bits.
//
// T tokens, H hidden size, I inner size of the MLP, D head size, V vocabulary. 16-bit data is
// 16-byte aligned, rows too. What the forward computes is bfloat16 or float16, gradients are
// bfloat16.
#pragma once

#include <cstdint>

#include "model/cuda/attention.h"
#include "model/cuda/runtime.h"

namespace tritonsmith::model::cuda {

// out = x / rms(x) * weight; x [rows, H], to which `parts` are added first, one after the other and
// in place.
struct Norm {
  float* x;             // changed by parts alone
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

// d_x = d_residual + d norm / d x · d_out, also as bfloat16 where `d_x_half` is given; d_weight is
// added to.
struct NormBackward {
  const float* x;
  const float* weight;
  const Bf16* d_out;
  const float* d_residual;  // null: nothing is added
  float* d_x;
  Bf16* d_x_half;   // or null
  float* partials;  // [kNormParts, H], scratch
  float* d_weight;  // [H]
  std::int64_t rows;
  int hidden;  // a multiple of 4, at most 16384
  float eps;
};
inline constexpr int kNormParts = 1056;

// Rotary positions, Hugging Face's pairing (i with i + D / 2), on q and k of packed projections
// [T, (heads + 2 kv_heads) D], in place. With a cache, keys and values are stored there too.
struct Rope {
  Half* qkv;
  const float* cos;  // [positions, D / 2]
  const float* sin;
  const int* positions;  // [T]
  const float* q_norm;   // [D] or null: each head is normed before it turns (Qwen3)
  const float* k_norm;
  const int* slots;  // [T], -1: stored nowhere; null: no cache
  PagedCache cache;
  std::int64_t tokens;
  int heads, kv_heads, head_dim;  // head_dim 32, 64, 128 or 256
  float eps;
  HalfType type = HalfType::bfloat16;
};

// From the gradients of turned q, k and of v to that of the packed projections. Where heads are
// normed, `raw` has the projections before that, and the gradients of the norms are added to.
struct RopeBackward {
  const Bf16* d_query;  // [T, heads, D]
  const Bf16* d_key;    // [T, kv_heads, D]
  const Bf16* d_value;
  Bf16* d_qkv;  // [T, (heads + 2 kv_heads) D]
  const float* cos;
  const float* sin;
  const int* positions;
  const Half* raw;      // as d_qkv, or null: heads are not normed
  const float* q_norm;  // [D]
  const float* k_norm;
  float* partials;  // [kRopeParts, 2, D], scratch
  float* d_q_norm;  // [D]
  float* d_k_norm;
  std::int64_t tokens;
  int heads, kv_heads, head_dim;
  float eps;
  HalfType type = HalfType::bfloat16;  // of `raw`
};
inline constexpr int kRopeParts = 1056;

// out = factor * silu(gate) * up; gate_up is [T, 2 I], the gates first. I is a multiple of 8.
struct SwiGlu {
  const Half* gate_up;
  Half* out;  // [T, I]
  std::int64_t tokens;
  int inner;
  HalfType type = HalfType::bfloat16;
  float factor = 1;
};
// In place: gate_up becomes its gradient, and d_out becomes silu(gate) * up again, both bfloat16.
struct SwiGluBackward {
  Half* gate_up;
  Bf16* d_out;
  std::int64_t tokens;
  int inner;
  HalfType type = HalfType::bfloat16;  // of gate_up as it comes
};

// V is a multiple of 4. Of each row of logits [rows, V]: log-probability of the target and entropy,
// both 0 where the target is negative; and the log of the normaliser.
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
// d_logits [rows, V] from the gradients of the two.
struct HeadRowsBackward {
  const float* logits;
  const std::int64_t* targets;
  const float* entropy;
  const float* log_normaliser;
  const float* d_logprob;
  const float* d_entropy;  // or null
  Bf16* d_logits;
  std::int64_t rows;
  int vocabulary;
  float inverse_temperature;
};

// One AdamW update (train/adamw.h) over flat buffers; gradients are multiplied by gradient_scale
// first, and the new weights are also written as 16-bit numbers.
struct AdamW {
  float* weights;
  const float* gradients;
  float* first;
  float* second;
  Half* half;                   // or null
  std::int64_t count, decayed;  // the first `decayed` take weight decay; both multiples of 4
  float learning_rate, beta1, beta2, epsilon, weight_decay;
  float correction1, correction2;  // 1 - beta^t
  float gradient_scale;
  HalfType type = HalfType::bfloat16;  // of `half`
};

// What a decode step knows of each slot; the arrays are indexed by slot.
struct SlotArrays {
  int* token;     // to be decoded next
  int* position;  // of that token
  int* drawn;     // tokens sampled so far: the number of the next draw
  std::uint64_t* seed;
  float* temperature;  // 0: greedy
  float* top_p;
  int* top_k;  // 0: all
};

// x of each row's token, and its position; a row of slot -1 gets token 0 at position 0.
struct Embed {
  const float* table;  // [V, H]
  const int* slots;    // [rows]
  SlotArrays arrays;
  float* x;        // [rows, H]
  int* positions;  // [rows]
  std::int64_t rows;
  int hidden;  // a multiple of 4
};

// Draws a token for each row (sampling.cu says how) and moves its slot on.
struct Sample {
  const float* logits;    // [*, V]
  const int* logits_row;  // [rows]: which row of logits is drawn from; null: its own
  const int* slots;       // [rows]; -1: nothing is drawn
  SlotArrays arrays;
  int* tokens;      // [rows] out; -1 where the logits are no finite numbers
  float* logprobs;  // [rows] out
  int rows, vocabulary;
};

// Pages from[i] -> to[i], in every layer, of keys and values.
struct CopyPages {
  Half* keys;  // [layers, pages, kv_heads, kPage, D]
  Half* values;
  const int* from;
  const int* to;
  int pairs, layers;
  std::int64_t pages, page_elements;  // elements of one page in one layer: kv_heads * kPage * D
};

// out[i] = rows_in[rows[i]], 16-bit numbers of any type.
struct GatherRows {
  const Half* rows_in;  // [*, columns], `stride` elements apart
  std::int64_t stride;
  const int* rows;  // [count]
  Half* out;        // [count, columns]
  std::int64_t count;
  int columns;  // a multiple of 8
};
// out[i] = the sum of rows_in[uses[u]] over u in [use_offsets[i], use_offsets[i + 1]), in that
// order in float32, rounded once.
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
  // The same with the sums of in_order.cuh; `splits` and scratch are of no use to it.
  void (*decode_in_order)(const Decode&, Stream);
  void (*attend_in_order)(const Attend&, Stream);
  void (*gather_rows)(const GatherRows&, Stream);
  void (*sum_rows)(const SumRows&, Stream);
  void (*sample)(const Sample&, Stream);
  void (*copy_pages)(const CopyPages&, Stream);
  Runtime runtime;
};

// Null where the build had no nvcc. The code is for compute capability 9.0 and later.
const Kernels* kernels();

}  // namespace tritonsmith::model::cuda
