// A decoder layer on the CPU, by parts: what comes before attention, what comes after it, and both
// backwards. Rows are tokens; each part runs over blocks of rows on all threads, so that a block's
// intermediate rows stay in the cache.
#pragma once

#include "model/cpu/shape.h"
#include "model/shared_keys.h"

namespace tritonsmith::model::cpu {

// RoPE rows by position: [positions, D / 2] each.
template <typename T>
struct Rope {
  const T* cos = nullptr;
  const T* sin = nullptr;
};

// qkv[t] = RoPE(head_norm(norm(x[t]) Wqkv + bias)) at positions[t]; x [T, H], qkv [T, qkv]. Query
// and key heads as they were before their norm go to unnormed [T, query + key_value], unless it is
// null.
template <typename T>
void project(const LayerShape& shape, const TurnedLayer<T>& weights, const Rope<T>& rope,
             const std::vector<std::int64_t>& positions, const T* x, T* qkv, T* unnormed = nullptr);

// middle = x + attended Wo; out = middle + MLP(norm(middle)). gate_up [T, 2 I] and middle [T, H]
// are what the backward needs; null where there is none.
template <typename T>
struct FinishBuffers {
  const T* x = nullptr;         // [T, H]
  const T* attended = nullptr;  // [T, query]
  T* middle = nullptr;          // [T, H] or null
  T* gate_up = nullptr;         // [T, 2 I] or null
  T* out = nullptr;             // [T, H]; may be x
};
template <typename T>
void finish(const LayerShape& shape, const TurnedLayer<T>& weights, std::int64_t rows,
            const FinishBuffers<T>& buffers);

// What forward kept of a layer, and where its gradients go (the weights' are written, not added
// to).
template <typename T>
struct LayerBackward {
  const std::vector<std::int64_t>* offsets = nullptr;  // of the packed sequences
  const std::vector<std::int64_t>* positions = nullptr;
  const SharedKeys* shared = nullptr;  // where sequences share their beginnings
  Rope<T> rope;
  const T* x = nullptr;
  const T* qkv = nullptr;
  const T* unnormed = nullptr;  // only with head norms
  const T* attended = nullptr;
  const T* log_normaliser = nullptr;  // [heads, T]
  const T* middle = nullptr;
  const T* gate_up = nullptr;
  const T* d_out = nullptr;  // [T, H]
  T* d_x = nullptr;          // [T, H]
  LayerPointers<const T> weights;
  LayerPointers<T> gradients;
};
template <typename T>
void layer_backward(const LayerShape& shape, const LayerBackward<T>& pass);

}  // namespace tritonsmith::model::cpu
