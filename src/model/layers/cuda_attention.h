// Computes causal attention of packed sequences on a GPU, forward and backward. It uses LibTorch's
// FlashAttention 2. If all sequences of a batch have one length, and such batches are frequent, it
// uses cuDNN, which is faster (bench/kernel_speed). One trial for each kind of heads decides
// whether cuDNN is present and correct. Without cuDNN only the speed differs. It fails with
// LibTorch's exception.
#pragma once

#include <ATen/core/Tensor.h>

#include "model/config/sums.h"
#include "model/layers/aten_layer.h"

namespace tritonsmith::model {

// SharedKeys (shared_keys.h) on the device, as int32.
struct SharedRows {
  at::Tensor rows;     // [K]
  at::Tensor offsets;  // [B + 1]
  std::int64_t longest = 0;
  at::Tensor uses, use_offsets;  // [K], [T + 1]
};

// The sequences of a batch, and the factor of their scores.
struct AttentionBatch {
  at::Tensor offsets;  // [B + 1] int32
  std::int64_t longest = 0;
  bool is_even = false;  // all sequences have the length `longest`
  double scale = 1;
  Sums sums = Sums::fast;  // equal: the forward is our own kernel, which decoding uses too
  // Set if sequences share their prefixes. offsets and `longest` then count only each sequence's
  // own rows.
  const SharedRows* shared = nullptr;
};

// The values that the backward needs besides the inputs.
struct Attended {
  at::Tensor out;  // [T, heads, D]
  at::Tensor log_normaliser, random_state, unused;
};

// query [T, heads, D], key and value [T, kv_heads, D], 16-bit; rows may lie apart.
Attended cuda_attend(const QueryKeyValue& qkv, const AttentionBatch& batch);
// Returns the gradients of query, key and value from that of `out`, contiguous and all of one type.
// If that type is not the forward's, attention is computed again in it. Rounding queries and keys
// once more moves a score of a hundred by tenths. With the forward's normaliser, the probabilities
// would then not add up to one. The gradient of a shared key is summed over the sequences in their
// order.
QueryKeyValue cuda_attend_backward(const QueryKeyValue& qkv, const Attended& attended,
                                   const at::Tensor& d_out, const AttentionBatch& batch);

}  // namespace tritonsmith::model
