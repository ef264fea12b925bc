// The backward of a layer in four sweeps: the rows after attention, attention, the rows before it,
// and the weights' gradients. Every element of a weight's gradient is one sum over the tokens in
// order.
#include <algorithm>
#include <span>

#include "model/cpu/attention.h"
#include "model/cpu/kernels.h"
#include "model/cpu/layer.h"
#include "model/cpu/parallel.h"
#include "model/cpu/scratch.h"

namespace tritonsmith::model::cpu {
namespace {

constexpr std::int64_t kBlock = 32;        // rows of a task
constexpr std::int64_t kWeightBlock = 32;  // rows of a weight's gradient that one task sums

// The data that one sweep leaves for the next.
template <typename T>
struct Sweeps {
  Sweeps(const LayerShape& s, std::int64_t rows)
      : blocks((rows + kBlock - 1) / kBlock),
        normed(rows * s.hidden),
        inner(rows * s.inner),
        d_gate_up(rows * 2 * s.inner),
        d_middle(rows * s.hidden),
        d_attended(rows * s.query()),
        d_qkv(rows * s.qkv()),
        input_normed(rows * s.hidden),
        d_post_norm(static_cast<std::size_t>(blocks * s.hidden)),
        d_input_norm(static_cast<std::size_t>(blocks * s.hidden)),
        d_bias(static_cast<std::size_t>(blocks * s.qkv())),
        d_head_norm(static_cast<std::size_t>(blocks * 2 * s.head_dim)) {}
  std::int64_t blocks;
  Buffer<T> normed, inner, d_gate_up, d_middle, d_attended, d_qkv, input_normed;
  // [blocks, ...]: one sum for each block of rows. d_head_norm holds that of q_norm, then that of
  // k_norm.
  std::vector<T> d_post_norm, d_input_norm, d_bias, d_head_norm;
};

// Rows [from, from + rows) of the sweep through the MLP and the output projection.
template <typename T>
void after_attention(const LayerShape& s, const LayerBackward<T>& pass, Sweeps<T>& sweeps,
                     std::int64_t block, std::int64_t from, std::int64_t rows) {
  const auto& kernel = kernels<T>();
  const std::int64_t H = s.hidden, I = s.inner;
  const T* d_out = pass.d_out + from * H;
  T* d_inner = scratch<T>(0, kBlock * I);
  T* d_normed = scratch<T>(1, kBlock * H);
  T* d_gate_up = sweeps.d_gate_up.data() + from * 2 * I;
  T* d_middle = sweeps.d_middle.data() + from * H;
  kernel.multiply({.m = rows,
                   .n = I,
                   .k = H,
                   .a = d_out,
                   .a_row = H,
                   .b = pass.weights.down,
                   .b_row = I,
                   .c = d_inner,
                   .c_row = I});
  for (std::int64_t t = 0; t < rows; ++t) {
    const T* gate = pass.gate_up + (from + t) * 2 * I;
    T* d_gate = d_gate_up + t * 2 * I;
    kernel.swiglu_backward(gate, gate + I, d_inner + t * I, I, d_gate, d_gate + I,
                           sweeps.inner.data() + (from + t) * I);
  }
  kernel.multiply({.m = rows,
                   .n = H,
                   .k = I,
                   .a = d_gate_up,
                   .a_row = 2 * I,
                   .b = pass.weights.gate,
                   .b_row = H,
                   .c = d_normed,
                   .c_row = H});
  kernel.multiply({.m = rows,
                   .n = H,
                   .k = I,
                   .a = d_gate_up + I,
                   .a_row = 2 * I,
                   .b = pass.weights.up,
                   .b_row = H,
                   .c = d_normed,
                   .c_row = H,
                   .accumulate = true});
  std::copy_n(d_out, rows * H, d_middle);
  for (std::int64_t t = 0; t < rows; ++t) {
    const T* middle = pass.middle + (from + t) * H;
    kernel.rms_norm(middle, pass.weights.post_norm, H, s.eps,
                    sweeps.normed.data() + (from + t) * H);
    kernel.rms_norm_backward(middle, pass.weights.post_norm, d_normed + t * H, H, s.eps,
                             d_middle + t * H, sweeps.d_post_norm.data() + block * H);
  }
  kernel.multiply({.m = rows,
                   .n = s.query(),
                   .k = H,
                   .a = d_middle,
                   .a_row = H,
                   .b = pass.weights.o,
                   .b_row = s.query(),
                   .c = sweeps.d_attended.data() + from * s.query(),
                   .c_row = s.query()});
}

// Takes one row's gradient through the norm of its heads, in place.
template <typename T>
void through_head_norm(const LayerShape& s, std::span<const T> unnormed, const T* weight, T* d_row,
                       T* d_weight) {
  T* d_head = scratch<T>(2, s.head_dim);
  for (std::size_t at = 0; at < unnormed.size(); at += static_cast<std::size_t>(s.head_dim)) {
    std::fill_n(d_head, s.head_dim, T{0});
    kernels<T>().rms_norm_backward(unnormed.data() + at, weight, d_row + at, s.head_dim, s.eps,
                                   d_head, d_weight);
    std::copy_n(d_head, s.head_dim, d_row + at);
  }
}

template <typename T>
void through_head_norms(const LayerShape& s, const LayerBackward<T>& pass, std::int64_t row,
                        T* d_row, T* d_weights) {
  const T* unnormed = pass.unnormed + row * (s.query() + s.key_value());
  const auto part = [&](std::int64_t begin, std::int64_t size) {
    return std::span(unnormed + begin, static_cast<std::size_t>(size));
  };
  through_head_norm(s, part(0, s.query()), pass.weights.q_norm, d_row, d_weights);
  through_head_norm(s, part(s.query(), s.key_value()), pass.weights.k_norm, d_row + s.query(),
                    d_weights + s.head_dim);
}

// Rows [from, from + rows) of the sweep through RoPE, the projections and the first norm.
template <typename T>
void before_attention(const LayerShape& s, const LayerBackward<T>& pass, Sweeps<T>& sweeps,
                      std::int64_t block, std::int64_t from, std::int64_t rows) {
  const auto& kernel = kernels<T>();
  const std::int64_t H = s.hidden, S = s.qkv(), half = s.head_dim / 2;
  T* d_qkv = sweeps.d_qkv.data() + from * S;
  T* d_normed = scratch<T>(1, kBlock * H);
  for (std::int64_t t = 0; t < rows; ++t) {
    const std::int64_t at = (*pass.positions)[static_cast<std::size_t>(from + t)] * half;
    kernel.rotate(d_qkv + t * S, s.heads + s.kv_heads, half, pass.rope.cos + at, pass.rope.sin + at,
                  T{-1});
    if (pass.unnormed != nullptr)
      through_head_norms(s, pass, from + t, d_qkv + t * S,
                         sweeps.d_head_norm.data() + block * 2 * s.head_dim);
    kernel.add(d_qkv + t * S, S, sweeps.d_bias.data() + block * S);
  }
  const struct {
    const T* weight;
    std::int64_t column, size;
  } parts[] = {{pass.weights.q, 0, s.query()},
               {pass.weights.k, s.query(), s.key_value()},
               {pass.weights.v, s.query() + s.key_value(), s.key_value()}};
  for (const auto& part : parts)
    kernel.multiply({.m = rows,
                     .n = H,
                     .k = part.size,
                     .a = d_qkv + part.column,
                     .a_row = S,
                     .b = part.weight,
                     .b_row = H,
                     .c = d_normed,
                     .c_row = H,
                     .accumulate = part.column > 0});
  T* d_x = pass.d_x + from * H;
  std::copy_n(sweeps.d_middle.data() + from * H, rows * H, d_x);
  for (std::int64_t t = 0; t < rows; ++t) {
    const T* x = pass.x + (from + t) * H;
    kernel.rms_norm(x, pass.weights.input_norm, H, s.eps,
                    sweeps.input_normed.data() + (from + t) * H);
    kernel.rms_norm_backward(x, pass.weights.input_norm, d_normed + t * H, H, s.eps, d_x + t * H,
                             sweeps.d_input_norm.data() + block * H);
  }
}

// d_weight [out, in] = d_out^T x.
template <typename T>
struct WeightGradient {
  const T* d_out;
  std::int64_t d_out_row, out;
  const T* x;
  std::int64_t in;
  T* d_weight;
};

template <typename T>
void weight_gradients(const LayerShape& s, const LayerBackward<T>& pass, const Sweeps<T>& sweeps,
                      std::int64_t rows) {
  const std::int64_t H = s.hidden, I = s.inner, Q = s.query(), KV = s.key_value(), S = s.qkv();
  const T* d_qkv = sweeps.d_qkv.data();
  const T* d_gate_up = sweeps.d_gate_up.data();
  const WeightGradient<T> all[] = {
      {d_gate_up, 2 * I, I, sweeps.normed.data(), H, pass.gradients.gate},
      {d_gate_up + I, 2 * I, I, sweeps.normed.data(), H, pass.gradients.up},
      {pass.d_out, H, H, sweeps.inner.data(), I, pass.gradients.down},
      {sweeps.d_middle.data(), H, H, pass.attended, Q, pass.gradients.o},
      {d_qkv, S, Q, sweeps.input_normed.data(), H, pass.gradients.q},
      {d_qkv + Q, S, KV, sweeps.input_normed.data(), H, pass.gradients.k},
      {d_qkv + Q + KV, S, KV, sweeps.input_normed.data(), H, pass.gradients.v}};
  std::vector<std::pair<const WeightGradient<T>*, std::int64_t>> tasks;
  for (const auto& each : all)
    for (std::int64_t from = 0; from < each.out; from += kWeightBlock)
      tasks.emplace_back(&each, from);
  parallel_for(std::ssize(tasks), rows * H * (S + Q + 3 * I), [&](std::int64_t i) {
    const auto& [each, from] = tasks[static_cast<std::size_t>(i)];
    kernels<T>().multiply({.m = std::min(kWeightBlock, each->out - from),
                           .n = each->in,
                           .k = rows,
                           .a = each->d_out + from,
                           .a_row = 1,
                           .a_column = each->d_out_row,
                           .b = each->x,
                           .b_row = each->in,
                           .c = each->d_weight + from * each->in,
                           .c_row = each->in});
  });
}

template <typename T>
void sum_blocks(const std::vector<T>& sums, std::int64_t blocks, std::int64_t stride,
                std::int64_t column, std::int64_t width, T* out) {
  if (out == nullptr) return;  // the family has no such weight
  std::fill_n(out, width, T{0});
  for (std::int64_t b = 0; b < blocks; ++b)
    kernels<T>().add(sums.data() + b * stride + column, width, out);
}

}  // namespace

template <typename T>
void layer_backward(const LayerShape& s, const LayerBackward<T>& pass) {
  const std::int64_t rows = pass.offsets->back();
  Sweeps<T> sweeps(s, rows);
  const auto sweep = [&](auto part) {
    parallel_for(sweeps.blocks, rows * s.hidden * (s.qkv() + s.query() + 3 * s.inner),
                 [&](std::int64_t block) {
                   const std::int64_t from = block * kBlock;
                   part(s, pass, sweeps, block, from, std::min(kBlock, rows - from));
                 });
  };
  sweep(after_attention<T>);
  attend_backward<T>(s, *pass.offsets,
                     {.qkv = pass.qkv,
                      .attended = pass.attended,
                      .log_normaliser = pass.log_normaliser,
                      .d_attended = sweeps.d_attended.data(),
                      .d_qkv = sweeps.d_qkv.data()},
                     pass.shared);
  sweep(before_attention<T>);
  weight_gradients(s, pass, sweeps, rows);
  const std::int64_t H = s.hidden, Q = s.query(), KV = s.key_value(), S = s.qkv();
  const auto& g = pass.gradients;
  sum_blocks(sweeps.d_post_norm, sweeps.blocks, H, 0, H, g.post_norm);
  sum_blocks(sweeps.d_input_norm, sweeps.blocks, H, 0, H, g.input_norm);
  sum_blocks(sweeps.d_bias, sweeps.blocks, S, 0, Q, g.q_bias);
  sum_blocks(sweeps.d_bias, sweeps.blocks, S, Q, KV, g.k_bias);
  sum_blocks(sweeps.d_bias, sweeps.blocks, S, Q + KV, KV, g.v_bias);
  const std::int64_t D = s.head_dim;
  sum_blocks(sweeps.d_head_norm, sweeps.blocks, 2 * D, 0, D, g.q_norm);
  sum_blocks(sweeps.d_head_norm, sweeps.blocks, 2 * D, D, D, g.k_norm);
}

template void layer_backward(const LayerShape&, const LayerBackward<float>&);
template void layer_backward(const LayerShape&, const LayerBackward<double>&);

}  // namespace tritonsmith::model::cpu
