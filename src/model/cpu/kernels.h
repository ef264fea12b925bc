// Declares the inner loops of the CPU model. They are single-threaded and work on raw rows. They
// exist for each level of x86-64 and for float and double. kernels<T>() returns the best set that
// this machine supports.
//
// Bit equality: every element of a product is one chain of fused multiply-adds over k in ascending
// order. That holds for all shapes and tiles. Every row reduction depends on the row's length
// alone. A token's result therefore does not depend on the other rows of the call: training,
// prefill and decode give the same bits.
#pragma once

#include <cstdint>

namespace tritonsmith::model::cpu {

// C[i, j] = (accumulate ? C[i, j] : 0) + sum over p of A[i, p] * B[p, j].
template <typename T>
struct Product {
  std::int64_t m = 0, n = 0, k = 0;
  const T* a = nullptr;
  std::int64_t a_row = 0, a_column = 1;  // strides of A: (k, 1), or (1, m) for a transposed A
  const T* b = nullptr;
  std::int64_t b_row = 0;
  T* c = nullptr;
  std::int64_t c_row = 0;
  bool accumulate = false;
};

// The log-sum-exp and the entropy of one row of logits z.
template <typename T>
struct RowLogprob {
  T log_normaliser;  // log sum exp(z / temperature)
  T entropy;         // of softmax(z / temperature)
};

template <typename T>
struct LogprobGradient {
  T log_normaliser, entropy;
  T d_logprob, d_entropy;
  T inverse_temperature;
  std::int64_t target;
};

template <typename T>
struct Kernels {
  void (*multiply)(const Product<T>&);
  // out[c, r] = in[r, c].
  void (*transpose)(const T* in, std::int64_t rows, std::int64_t columns, std::int64_t in_row,
                    T* out, std::int64_t out_row);
  // out = x / rms(x) * weight.
  void (*rms_norm)(const T* x, const T* weight, std::int64_t width, double eps, T* out);
  // Adds to d_x and d_weight.
  void (*rms_norm_backward)(const T* x, const T* weight, const T* d_out, std::int64_t width,
                            double eps, T* d_x, T* d_weight);
  // Applies RoPE in place to `heads` heads of a row. `direction` -1 rotates back, for the gradient.
  void (*rotate)(T* row, std::int64_t heads, std::int64_t half, const T* cos, const T* sin,
                 T direction);
  // out = silu(gate) * up.
  void (*swiglu)(const T* gate, const T* up, std::int64_t n, T* out);
  // Writes both gradients. It also writes the forward's `out` again, for the weight's gradient.
  void (*swiglu_backward)(const T* gate, const T* up, const T* d_out, std::int64_t n, T* d_gate,
                          T* d_up, T* out);
  // scores = exp(scale * (scores - max)). Returns their sum, and scale * max in `scaled_max`.
  T (*exponentiate)(T* scores, std::int64_t n, T scale, T* scaled_max);
  // scores = exp(scale * scores - log_normaliser).
  void (*probabilities)(T* scores, std::int64_t n, T scale, T log_normaliser);
  // The gradient of the scores replaces d: d = p * (d - delta) * scale.
  void (*softmax_backward)(const T* p, T* d, std::int64_t n, T delta, T scale);
  T (*dot)(const T* a, const T* b, std::int64_t n);
  // scale: out = a * scale. add: out = out + a.
  void (*scale)(const T* a, std::int64_t n, T scale, T* out);
  void (*add)(const T* a, std::int64_t n, T* out);
  RowLogprob<T> (*row_logprob)(const T* logits, std::int64_t n, T inverse_temperature);
  // The gradient of the logits replaces the row's logits.
  void (*row_logprob_backward)(T* logits, std::int64_t n, const LogprobGradient<T>& gradient);
};

template <typename T>
const Kernels<T>& kernels();

}  // namespace tritonsmith::model::cpu
