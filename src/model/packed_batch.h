// PackedBatch: several sequences end to end, without padding. Each token attends to the earlier
// ones of its own sequence only, and positions begin at 0 in each.
//
// Sequences that begin alike (samples of one prompt) may share that beginning: it stands in the
// batch once, as rows of the first of them, and is computed once. The others' rows are those of the
// rest alone.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <span>
#include <vector>

#include "data/completion.h"
#include "model/shared_keys.h"

namespace tritonsmith::model {

struct PackedBatch {
  at::Tensor tokens;                  // [T] int64, on the model's device
  std::vector<std::int64_t> offsets;  // [B + 1]: sequence b's rows are [offsets[b], offsets[b + 1])
  // [B]: what precedes sequence b's rows, of a sequence before it; empty: nothing in any.
  std::vector<Beginning> beginnings = {};

  std::int64_t sequences() const { return static_cast<std::int64_t>(offsets.size()) - 1; }
  std::int64_t length() const { return offsets.back(); }
  std::int64_t rows_of(std::int64_t sequence) const {
    const auto b = static_cast<std::size_t>(sequence);
    return offsets[b + 1] - offsets[b];
  }
  // Tokens before the sequence's rows.
  std::int64_t before(std::int64_t sequence) const {
    return beginnings.empty() ? 0 : beginnings[static_cast<std::size_t>(sequence)].length;
  }
  std::int64_t longest() const;       // sequence, whole
  std::int64_t longest_rows() const;  // the most that a sequence has of its own
  bool is_shared() const;
  std::vector<std::int64_t> positions() const;  // [T]
};

PackedBatch pack(std::span<const std::vector<TokenId>> sequences, c10::Device device);

SharedKeys shared_keys(const PackedBatch& batch);

}  // namespace tritonsmith::model
