#include "model/cpu/layer.h"

#include <algorithm>

#include "model/cpu/attention.h"
#include "model/cpu/kernels.h"
#include "model/cpu/parallel.h"
#include "model/cpu/scratch.h"

namespace tritonsmith::model::cpu {
namespace {

constexpr std::int64_t kBlock = 32;  // rows of a task

// Calls body(first row, count) for each block of rows.
template <typename Body>
void for_blocks(std::int64_t rows, std::int64_t work_of_row, const Body& body) {
  parallel_for((rows + kBlock - 1) / kBlock, rows * work_of_row, [&](std::int64_t block) {
    const std::int64_t from = block * kBlock;
    body(from, std::min(kBlock, rows - from));
  });
}

template <typename T>
void norm_rows(const LayerShape& shape, const T* x, const T* weight, std::int64_t rows, T* out) {
  for (std::int64_t t = 0; t < rows; ++t)
    kernels<T>().rms_norm(x + t * shape.hidden, weight, shape.hidden, shape.eps,
                          out + t * shape.hidden);
}

// Normalises each head of one row in place. Without a weight it changes nothing.
template <typename T>
void norm_heads(const LayerShape& shape, std::int64_t heads, const T* weight, T* row) {
  if (weight == nullptr) return;
  for (T* head = row; head < row + heads * shape.head_dim; head += shape.head_dim)
    kernels<T>().rms_norm(head, weight, shape.head_dim, shape.eps, head);
}

}  // namespace

template <typename T>
void transpose_weights(const LayerShape& s, const LayerPointers<const T>& w,
                       TransposedLayer<T>& out) {
  const auto& kernel = kernels<T>();
  const std::int64_t H = s.hidden, I = s.inner, Q = s.query(), KV = s.key_value(), S = s.qkv();
  out.input_norm = w.input_norm;
  out.post_norm = w.post_norm;
  out.q_norm = w.q_norm;
  out.k_norm = w.k_norm;
  const auto resize = [](std::vector<T>& v, std::int64_t n) {
    v.resize(static_cast<std::size_t>(n));
  };
  resize(out.qkv, H * S);
  resize(out.qkv_bias, S);
  resize(out.o, Q * H);
  resize(out.gate_up, H * 2 * I);
  resize(out.down, I * H);
  std::ranges::fill(out.qkv_bias, T{0});
  if (w.q_bias != nullptr) std::copy_n(w.q_bias, Q, out.qkv_bias.data());
  if (w.k_bias != nullptr) std::copy_n(w.k_bias, KV, out.qkv_bias.data() + Q);
  if (w.v_bias != nullptr) std::copy_n(w.v_bias, KV, out.qkv_bias.data() + Q + KV);
  struct Transposition {
    const T* in;
    std::int64_t rows, columns;
    T* out;
    std::int64_t out_row;
  };
  const Transposition transpositions[] = {{w.q, Q, H, out.qkv.data(), S},
                                          {w.k, KV, H, out.qkv.data() + Q, S},
                                          {w.v, KV, H, out.qkv.data() + Q + KV, S},
                                          {w.o, H, Q, out.o.data(), H},
                                          {w.gate, I, H, out.gate_up.data(), 2 * I},
                                          {w.up, I, H, out.gate_up.data() + I, 2 * I},
                                          {w.down, H, I, out.down.data(), H}};
  parallel_for(std::ssize(transpositions), H * (S + Q + 3 * I), [&](std::int64_t i) {
    const Transposition& t = transpositions[i];
    kernel.transpose(t.in, t.rows, t.columns, t.columns, t.out, t.out_row);
  });
}

template <typename T>
void project(const LayerShape& s, const TransposedLayer<T>& w, const Rope<T>& rope,
             const std::vector<std::int64_t>& positions, const T* x, T* qkv, T* unnormed) {
  const auto& kernel = kernels<T>();
  const std::int64_t half = s.head_dim / 2;
  for_blocks(std::ssize(positions), s.hidden * s.qkv(), [&](std::int64_t from, std::int64_t rows) {
    T* normed = scratch<T>(0, kBlock * s.hidden);
    norm_rows(s, x + from * s.hidden, w.input_norm, rows, normed);
    T* out = qkv + from * s.qkv();
    for (std::int64_t t = 0; t < rows; ++t)
      std::copy_n(w.qkv_bias.data(), s.qkv(), out + t * s.qkv());
    kernel.multiply({.m = rows,
                     .n = s.qkv(),
                     .k = s.hidden,
                     .a = normed,
                     .a_row = s.hidden,
                     .b = w.qkv.data(),
                     .b_row = s.qkv(),
                     .c = out,
                     .c_row = s.qkv(),
                     .accumulate = true});
    for (std::int64_t t = 0; t < rows; ++t) {
      const std::int64_t at = positions[static_cast<std::size_t>(from + t)] * half;
      const std::int64_t width = s.query() + s.key_value();
      if (unnormed != nullptr) std::copy_n(out + t * s.qkv(), width, unnormed + (from + t) * width);
      norm_heads(s, s.heads, w.q_norm, out + t * s.qkv());
      norm_heads(s, s.kv_heads, w.k_norm, out + t * s.qkv() + s.query());
      kernel.rotate(out + t * s.qkv(), s.heads + s.kv_heads, half, rope.cos + at, rope.sin + at,
                    T{1});
    }
  });
}

template <typename T>
void finish(const LayerShape& s, const TransposedLayer<T>& w, std::int64_t all_rows,
            const FinishBuffers<T>& buffers) {
  const auto& kernel = kernels<T>();
  const std::int64_t H = s.hidden, I = s.inner;
  for_blocks(all_rows, H * (s.query() + 3 * I), [&](std::int64_t from, std::int64_t rows) {
    T* middle = buffers.middle ? buffers.middle + from * H : scratch<T>(0, kBlock * H);
    T* gate_up = buffers.gate_up ? buffers.gate_up + from * 2 * I : scratch<T>(1, kBlock * 2 * I);
    T* normed = scratch<T>(2, kBlock * H);
    T* inner = scratch<T>(3, kBlock * I);
    std::copy_n(buffers.x + from * H, rows * H, middle);
    kernel.multiply({.m = rows,
                     .n = H,
                     .k = s.query(),
                     .a = buffers.attended + from * s.query(),
                     .a_row = s.query(),
                     .b = w.o.data(),
                     .b_row = H,
                     .c = middle,
                     .c_row = H,
                     .accumulate = true});
    norm_rows(s, middle, w.post_norm, rows, normed);
    kernel.multiply({.m = rows,
                     .n = 2 * I,
                     .k = H,
                     .a = normed,
                     .a_row = H,
                     .b = w.gate_up.data(),
                     .b_row = 2 * I,
                     .c = gate_up,
                     .c_row = 2 * I});
    for (std::int64_t t = 0; t < rows; ++t)
      kernel.swiglu(gate_up + t * 2 * I, gate_up + t * 2 * I + I, I, inner + t * I);
    T* out = buffers.out + from * H;
    std::copy_n(middle, rows * H, out);
    kernel.multiply({.m = rows,
                     .n = H,
                     .k = I,
                     .a = inner,
                     .a_row = I,
                     .b = w.down.data(),
                     .b_row = H,
                     .c = out,
                     .c_row = H,
                     .accumulate = true});
  });
}

#define TRITONSMITH_INSTANTIATE(T)                                                    \
  template void transpose_weights(const LayerShape&, const LayerPointers<const T>&,   \
                                  TransposedLayer<T>&);                               \
  template void project(const LayerShape&, const TransposedLayer<T>&, const Rope<T>&, \
                        const std::vector<std::int64_t>&, const T*, T*, T*);          \
  template void finish(const LayerShape&, const TransposedLayer<T>&, std::int64_t,    \
                       const FinishBuffers<T>&);
TRITONSMITH_INSTANTIATE(float)
TRITONSMITH_INSTANTIATE(double)
#undef TRITONSMITH_INSTANTIATE

}  // namespace tritonsmith::model::cpu
