// What sequences of a packed batch (packed_batch.h) have in common: a beginning, which then stands
// in the batch once, and the keys that each of them attends to.
#pragma once

#include <cstdint>
#include <vector>

namespace tritonsmith::model {

// The first `length` tokens of another sequence, which may have a beginning itself.
struct Beginning {
  std::int64_t sequence = 0;
  std::int64_t length = 0;  // 0: none is shared
};

// Which rows of the batch each of its sequences attends to. Keys and values are laid out by it as
// if nothing were shared; gradients come back the same way, and are added up row by row.
struct SharedKeys {
  std::vector<std::int64_t> rows;     // [K]: the batch's row of each key, sequence after sequence
  std::vector<std::int64_t> offsets;  // [B + 1]: sequence b's keys are [offsets[b], offsets[b + 1])
  std::int64_t longest = 0;           // of the sequences, whole
  // The other way round: row t is the keys uses[use_offsets[t] .. use_offsets[t + 1]), ascending.
  std::vector<std::int64_t> uses;         // [K]
  std::vector<std::int64_t> use_offsets;  // [T + 1]
};

}  // namespace tritonsmith::model
