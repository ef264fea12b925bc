// Computes a decoder layer on the CPU in parts: the part before attention, the part after it, and
// the backward of both. Rows are tokens. Each part runs over blocks of rows on all threads, so that
// a block's intermediate rows stay in the cache.
#pragma once

#include "model/batch/shared_keys.h"
#include "model/cpu/shape.h"

namespace tritonsmith::model::cpu {

// RoPE rows by position, [positions, D / 2] each.
template <typename T>
struct Rope {
  const T* cos = nullptr;
  const T* sin = nullptr;
};

// qkv[t] = RoPE(head_norm(norm(x[t]) Wqkv + bias)) at positions[t]; x [T, H], qkv [T, qkv]. Unless
// it is null, `unnormed` [T, query + key_value] receives the query and key heads before their norm.
template <typename T>
void project(const LayerShape& shape, const TransposedLayer<T>& weights, const Rope<T>& rope,
             const std::vector<std::int64_t>& positions, const T* x, T* qkv, T* unnormed = nullptr);

// middle = x + attended Wo; out = middle + MLP(norm(middle)). The backward needs gate_up [T, 2 I]
// and middle [T, H]. Both are null without a backward.
template <typename T>
struct FinishBuffers {
  const T* x = nullptr;         // [T, H]
  const T* attended = nullptr;  // [T, query]
  T* middle = nullptr;          // [T, H] or null
  T* gate_up = nullptr;         // [T, 2 I] or null
  T* out = nullptr;             // [T, H]; may be the same memory as x
};
template <typename T>
void finish(const LayerShape& shape, const TransposedLayer<T>& weights, std::int64_t rows,
            const FinishBuffers<T>& buffers);

// The values that the forward kept of a layer, and the memory of its gradients. The weights'
// gradients are written, not added to.
template <typename T>
struct LayerBackward {
  const std::vector<std::int64_t>* offsets = nullptr;  // of the packed sequences
  const std::vector<std::int64_t>* positions = nullptr;
  const SharedKeys* shared = nullptr;  // set if sequences share their prefixes
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
