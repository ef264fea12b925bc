// Causal attention within packed sequences, by blocks of queries, and its backward. Scores of a
// block are the only ones in memory. A task is one sequence and one key-value head with its query
// heads. Where sequences share their beginnings, `shared` says which rows each attends to; a
// token's result has the same bits either way.
#pragma once

#include "model/cpu/shape.h"
#include "model/shared_keys.h"

namespace tritonsmith::model::cpu {

// qkv [T, qkv] after RoPE; attended [T, query]; log_normaliser [heads, T], or null where no
// backward follows.
template <typename T>
void attend(const LayerShape& shape, const std::vector<std::int64_t>& offsets, const T* qkv,
            T* attended, T* log_normaliser, const SharedKeys* shared = nullptr);

template <typename T>
struct AttentionBackward {
  const T* qkv = nullptr;
  const T* attended = nullptr;
  const T* log_normaliser = nullptr;
  const T* d_attended = nullptr;  // [T, query]
  T* d_qkv = nullptr;             // [T, qkv], written whole
};
template <typename T>
void attend_backward(const LayerShape& shape, const std::vector<std::int64_t>& offsets,
                     const AttentionBackward<T>& pass, const SharedKeys* shared = nullptr);

// One query row against a cache of one key-value head: what a decode step runs, bit for bit as
// `attend` does. queries [group, D]; keys [D, capacity], turned; values [length, D].
template <typename T>
struct CachedHead {
  const T* keys = nullptr;
  std::int64_t capacity = 0;
  const T* values = nullptr;
  std::int64_t length = 0;
};
template <typename T>
void attend_cached(const LayerShape& shape, const CachedHead<T>& cache, const T* queries, T* out);

}  // namespace tritonsmith::model::cpu
