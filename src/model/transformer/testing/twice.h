// Packs the same sequences into two batches, without and with shared prefixes.
#pragma once

#include <ATen/ATen.h>

#include <vector>

#include "model/batch/packed_batch.h"

namespace tritonsmith::model {

// The two batches.
struct Twice {
  PackedBatch whole, shared;
  at::Tensor rows;  // [T of shared]: for each row of `shared`, the same row of `whole`
};

// A sequence of `before + own` tokens. The first `before` come from sequence `of`.
struct SharingPart {
  std::int64_t of, before, own;
};

inline Twice twice(const std::vector<SharingPart>& parts, TokenId vocabulary, c10::Device device) {
  std::vector<std::vector<TokenId>> sequences;
  std::vector<TokenId> compact;
  Twice made{.shared = {.offsets = {0}}};
  std::vector<std::int64_t> rows;
  std::int64_t begin = 0;
  TokenId next = 1;
  for (const SharingPart& part : parts) {
    std::vector<TokenId> tokens;
    if (part.before > 0) {
      const auto& other = sequences[static_cast<std::size_t>(part.of)];
      tokens.assign(other.begin(), other.begin() + part.before);
    }
    for (std::int64_t i = 0; i < part.own; ++i) {
      next = static_cast<TokenId>((next * 17 + 5) % vocabulary);
      tokens.push_back(next);
      compact.push_back(next);
      rows.push_back(begin + part.before + i);
    }
    made.shared.offsets.push_back(std::ssize(compact));
    made.shared.prefixes.push_back({.sequence = part.of, .length = part.before});
    begin += part.before + part.own;
    sequences.push_back(std::move(tokens));
  }
  made.whole = pack(sequences, device);
  made.shared.tokens = pack(std::vector<std::vector<TokenId>>{compact}, device).tokens;
  made.rows = at::tensor(rows, at::kLong).to(device);
  return made;
}

}  // namespace tritonsmith::model
