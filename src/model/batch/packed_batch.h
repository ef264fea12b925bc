// PackedBatch: several sequences end to end, without padding. Each token attends only to earlier
// tokens of its own sequence. Positions begin at 0 in each sequence.
//
// Sequences with a common prefix (samples of one prompt) may share it. The batch contains and
// computes the prefix once, as rows of the first of these sequences. The other sequences have
// only the rest as rows of their own.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <span>
#include <vector>

#include "data/completion.h"
#include "model/batch/shared_keys.h"

namespace tritonsmith::model {

struct PackedBatch {
  at::Tensor tokens;                  // [T] int64, on the model's device
  std::vector<std::int64_t> offsets;  // [B + 1]: sequence b's rows are [offsets[b], offsets[b + 1])
  // [B]: the prefix that sequence b takes from an earlier sequence. Empty if no sequence shares
  // one.
  std::vector<SharedPrefix> prefixes = {};

  std::int64_t sequences() const { return static_cast<std::int64_t>(offsets.size()) - 1; }
  std::int64_t length() const { return offsets.back(); }
  std::int64_t rows_of(std::int64_t sequence) const {
    const auto b = static_cast<std::size_t>(sequence);
    return offsets[b + 1] - offsets[b];
  }
  // Returns the number of tokens before the sequence's own rows.
  std::int64_t before(std::int64_t sequence) const {
    return prefixes.empty() ? 0 : prefixes[static_cast<std::size_t>(sequence)].length;
  }
  std::int64_t longest() const;       // the longest sequence, its prefix included
  std::int64_t longest_rows() const;  // the largest number of own rows of a sequence
  bool is_shared() const;
  std::vector<std::int64_t> positions() const;  // [T]
};

PackedBatch pack(std::span<const std::vector<TokenId>> sequences, c10::Device device);

SharedKeys shared_keys(const PackedBatch& batch);

}  // namespace tritonsmith::model
