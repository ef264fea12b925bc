// Computes causal attention within packed sequences and its backward, by blocks of queries. Memory
// holds the scores of one block only. A task is one sequence and one key-value head with its query
// heads. If sequences share their prefixes, `shared` lists the rows that each sequence attends to.
// A token's result has the same bits with and without sharing.
#pragma once

#include "model/batch/shared_keys.h"
#include "model/cpu/shape.h"

namespace tritonsmith::model::cpu {

// qkv [T, qkv] after RoPE; attended [T, query]; log_normaliser [heads, T], or null if no backward
// follows.
template <typename T>
void attend(const LayerShape& shape, const std::vector<std::int64_t>& offsets, const T* qkv,
            T* attended, T* log_normaliser, const SharedKeys* shared = nullptr);

template <typename T>
struct AttentionBackward {
  const T* qkv = nullptr;
  const T* attended = nullptr;
  const T* log_normaliser = nullptr;
  const T* d_attended = nullptr;  // [T, query]
  T* d_qkv = nullptr;             // [T, qkv]; every element is written
};
template <typename T>
void attend_backward(const LayerShape& shape, const std::vector<std::int64_t>& offsets,
                     const AttentionBackward<T>& pass, const SharedKeys* shared = nullptr);

// Attention of one query row over the cache of one key-value head, for a decode step. It has the
// same bits as `attend`. queries [group, D]; keys [D, capacity], transposed; values [length, D].
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
