// Sizes and weights of a decoder layer for the CPU kernels: plain numbers and pointers. The caller
// owns them.
#pragma once

#include <cstdint>
#include <vector>

namespace tritonsmith::model::cpu {

struct LayerShape {
  std::int64_t hidden = 0;  // H
  std::int64_t inner = 0;   // I, the inner size of the MLP
  std::int64_t heads = 0;   // query heads
  std::int64_t kv_heads = 0;
  std::int64_t head_dim = 0;  // D
  double eps = 1e-6;

  std::int64_t query() const { return heads * head_dim; }
  std::int64_t key_value() const { return kv_heads * head_dim; }
  // The width of a row of projections: all query heads, all key heads, all value heads.
  std::int64_t qkv() const { return query() + 2 * key_value(); }
  std::int64_t group() const { return heads / kv_heads; }
};

// Weights as Hugging Face stores them: linear weights are [out, in]. Biases and q_norm, k_norm [D]
// may be null.
template <typename T>
struct LayerPointers {
  T *input_norm = nullptr, *q = nullptr, *q_bias = nullptr, *k = nullptr, *k_bias = nullptr,
    *v = nullptr, *v_bias = nullptr, *q_norm = nullptr, *k_norm = nullptr, *o = nullptr,
    *post_norm = nullptr, *gate = nullptr, *up = nullptr, *down = nullptr;
};

// The same weights transposed to [in, out], so that forward products read them row by row. q, k and
// v lie side by side, and so do gate and up.
template <typename T>
struct TransposedLayer {
  std::vector<T> qkv;       // [H, qkv]
  std::vector<T> qkv_bias;  // [qkv], zero without biases
  std::vector<T> o;         // [query, H]
  std::vector<T> gate_up;   // [H, 2 I]
  std::vector<T> down;      // [I, H]
  const T* input_norm = nullptr;
  const T* post_norm = nullptr;
  const T *q_norm = nullptr, *k_norm = nullptr;  // [D], or null
};

// Copies the current weights. The norms are used in place, without a copy.
template <typename T>
void transpose_weights(const LayerShape& shape, const LayerPointers<const T>& weights,
                       TransposedLayer<T>& out);

}  // namespace tritonsmith::model::cpu
