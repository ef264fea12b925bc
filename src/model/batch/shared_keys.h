// Finds the common prefixes of sequences in a packed batch (packed_batch.h), and the keys to which
// each sequence attends. A common prefix stands in the batch once.
#pragma once

#include <cstdint>
#include <vector>

namespace tritonsmith::model {

// The first `length` tokens of another sequence, which may itself share a prefix.
struct SharedPrefix {
  std::int64_t sequence = 0;
  std::int64_t length = 0;  // 0: nothing is shared
};

// The rows of the batch to which each sequence attends. Keys and values are laid out by it as if
// nothing were shared. Gradients return by the same map and are added up row by row.
struct SharedKeys {
  std::vector<std::int64_t> rows;     // [K]: the batch's row of each key, ordered by sequence
  std::vector<std::int64_t> offsets;  // [B + 1]: sequence b's keys are [offsets[b], offsets[b + 1])
  std::int64_t longest = 0;           // the longest sequence, its prefix included
  // The inverse map: row t is used as keys uses[use_offsets[t] .. use_offsets[t + 1]), ascending.
  std::vector<std::int64_t> uses;         // [K]
  std::vector<std::int64_t> use_offsets;  // [T + 1]
};

}  // namespace tritonsmith::model
