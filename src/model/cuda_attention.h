// Causal attention of packed sequences on a GPU, forward and backward: LibTorch's FlashAttention 2,
// and where all sequences of a batch have one length, and such batches come often, cuDNN's, which
// is faster (bench/kernel_speed). Whether cuDNN is there and right is tried once for each kind of
// heads; without it nothing changes but the time. Fails as LibTorch does, by its exception.
#pragma once

#include <ATen/core/Tensor.h>

#include "model/aten_layer.h"
#include "model/sums.h"

namespace tritonsmith::model {

// SharedKeys (shared_keys.h) on the device, int32.
struct SharedRows {
  at::Tensor rows;     // [K]
  at::Tensor offsets;  // [B + 1]
  std::int64_t longest = 0;
  at::Tensor uses, use_offsets;  // [K], [T + 1]
};

// The sequences of a batch, and what their scores are multiplied by.
struct AttentionPlace {
  at::Tensor offsets;  // [B + 1] int32
  std::int64_t longest = 0;
  bool is_even = false;  // all are as long as the longest
  double scale = 1;
  Sums sums = Sums::fast;  // equal: the forward is our own kernel, whose sums decoding shares
  // Where sequences share their beginnings; offsets and `longest` are then of their own rows.
  const SharedRows* shared = nullptr;
};

// What the backward needs besides the inputs.
struct Attended {
  at::Tensor out;  // [T, heads, D]
  at::Tensor log_normaliser, random_state, unused;
};

// query [T, heads, D], key and value [T, kv_heads, D], 16 bits; rows may lie apart.
Attended cuda_attend(const QueryKeyValue& qkv, const AttentionPlace& place);
// The gradients of the three, contiguous, given that of `out`; all of one type. Where that is not
// the forward's, attention is computed again in it: of queries and keys that are rounded once more
// a score of a hundred moves by tenths, and with the forward's normaliser probabilities would not
// add up to one. That of a shared key is summed over the sequences in their order.
QueryKeyValue cuda_attend_backward(const QueryKeyValue& qkv, const Attended& attended,
                                   const at::Tensor& d_out, const AttentionPlace& place);

}  // namespace tritonsmith::model
