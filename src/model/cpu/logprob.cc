#include "model/cpu/logprob.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "model/cpu/kernels.h"
#include "model/cpu/parallel.h"
#include "model/cpu/scratch.h"

namespace tritonsmith::model::cpu {
namespace {

constexpr std::int64_t kBlock = 32;  // rows of a task
// elements kept between the two sweeps
constexpr std::int64_t kLogitsAtOnce = std::int64_t{1} << 20;
constexpr std::int64_t kTokensTransposed = 64;  // tokens of the head for one task

template <typename T>
Buffer<T> transpose_head(const HeadShape<T>& s, const T* weight) {
  Buffer<T> transposed(s.hidden * s.vocabulary);  // [H, V]
  parallel_for((s.vocabulary + kTokensTransposed - 1) / kTokensTransposed, s.vocabulary * s.hidden,
               [&](std::int64_t task) {
                 const std::int64_t from = task * kTokensTransposed;
                 kernels<T>().transpose(weight + from * s.hidden,
                                        std::min(kTokensTransposed, s.vocabulary - from), s.hidden,
                                        s.hidden, transposed.data() + from, s.vocabulary);
               });
  return transposed;
}

template <typename T>
void block_logits(const HeadShape<T>& s, const T* hidden, const T* transposed, std::int64_t rows,
                  T* logits) {
  kernels<T>().multiply({.m = rows,
                         .n = s.vocabulary,
                         .k = s.hidden,
                         .a = hidden,
                         .a_row = s.hidden,
                         .b = transposed,
                         .b_row = s.vocabulary,
                         .c = logits,
                         .c_row = s.vocabulary});
}

template <typename Body>
void for_blocks(std::int64_t from, std::int64_t to, std::int64_t work_of_row, const Body& body) {
  parallel_for((to - from + kBlock - 1) / kBlock, (to - from) * work_of_row,
               [&](std::int64_t block) {
                 const std::int64_t at = from + block * kBlock;
                 body(at, std::min(kBlock, to - at));
               });
}

// Computes the gradients of the logits of rows [at, at + rows), and from them those of the hidden
// states.
template <typename T>
void block_backward(const HeadShape<T>& s, const HeadBackward<T>& pass, const T* transposed,
                    std::int64_t at, std::int64_t rows, T* logits) {
  const auto& kernel = kernels<T>();
  block_logits(s, pass.hidden + at * s.hidden, transposed, rows, logits);
  for (std::int64_t i = 0; i < rows; ++i) {
    const std::int64_t t = at + i;
    T* row = logits + i * s.vocabulary;
    if (pass.targets[t] < 0) {
      std::fill_n(row, s.vocabulary, T{0});
      continue;
    }
    kernel.row_logprob_backward(row, s.vocabulary,
                                {.log_normaliser = pass.log_normaliser[t],
                                 .entropy = pass.entropy[t],
                                 .d_logprob = pass.d_logprob[t],
                                 .d_entropy = pass.d_entropy ? pass.d_entropy[t] : T{0},
                                 .inverse_temperature = s.inverse_temperature,
                                 .target = pass.targets[t]});
  }
  kernel.multiply({.m = rows,
                   .n = s.hidden,
                   .k = s.vocabulary,
                   .a = logits,
                   .a_row = s.vocabulary,
                   .b = pass.weight,
                   .b_row = s.hidden,
                   .c = pass.d_hidden + at * s.hidden,
                   .c_row = s.hidden});
}

}  // namespace

template <typename T>
void head_logprob(const HeadShape<T>& s, const HeadForward<T>& pass) {
  const Buffer<T> transposed = transpose_head(s, pass.weight);
  for_blocks(0, s.rows, s.hidden * s.vocabulary, [&](std::int64_t at, std::int64_t rows) {
    T* logits = scratch<T>(0, kBlock * s.vocabulary);
    block_logits(s, pass.hidden + at * s.hidden, transposed.data(), rows, logits);
    for (std::int64_t i = 0; i < rows; ++i) {
      const std::int64_t t = at + i, target = pass.targets[t];
      const T* row = logits + i * s.vocabulary;
      const auto said = kernels<T>().row_logprob(row, s.vocabulary, s.inverse_temperature);
      pass.log_normaliser[t] = said.log_normaliser;
      pass.entropy[t] = target < 0 ? T{0} : said.entropy;
      pass.logprob[t] =
          target < 0 ? T{0}
                     : target_logprob(row[target], s.inverse_temperature, said.log_normaliser);
    }
  });
}

template <typename T>
void head_logprob_backward(const HeadShape<T>& s, const HeadBackward<T>& pass) {
  const Buffer<T> transposed = transpose_head(s, pass.weight);
  const std::int64_t step =
      std::clamp(kLogitsAtOnce / s.vocabulary / kBlock * kBlock, kBlock, std::max(kBlock, s.rows));
  const Buffer<T> logits(step * s.vocabulary);
  std::fill_n(pass.d_weight, s.vocabulary * s.hidden, T{0});
  for (std::int64_t from = 0; from < s.rows; from += step) {
    const std::int64_t to = std::min(from + step, s.rows);
    for_blocks(from, to, s.hidden * s.vocabulary, [&](std::int64_t at, std::int64_t rows) {
      block_backward(s, pass, transposed.data(), at, rows,
                     logits.data() + (at - from) * s.vocabulary);
    });
    const std::int64_t work = (to - from) * s.hidden * s.vocabulary;
    parallel_for((s.vocabulary + kTokensTransposed - 1) / kTokensTransposed, work,
                 [&](std::int64_t task) {
                   const std::int64_t token = task * kTokensTransposed;
                   kernels<T>().multiply({.m = std::min(kTokensTransposed, s.vocabulary - token),
                                          .n = s.hidden,
                                          .k = to - from,
                                          .a = logits.data() + token,
                                          .a_row = 1,
                                          .a_column = s.vocabulary,
                                          .b = pass.hidden + from * s.hidden,
                                          .b_row = s.hidden,
                                          .c = pass.d_weight + token * s.hidden,
                                          .c_row = s.hidden,
                                          .accumulate = true});
                 });
  }
}

template <typename T>
void head_logits(const HeadShape<T>& s, const T* hidden, const T* transposed, T* logits) {
  // With few rows and many tokens, a task is a stripe of the vocabulary.
  constexpr std::int64_t kStripe = 256;
  parallel_for((s.vocabulary + kStripe - 1) / kStripe, s.rows * s.hidden * s.vocabulary,
               [&](std::int64_t task) {
                 const std::int64_t token = task * kStripe;
                 kernels<T>().multiply({.m = s.rows,
                                        .n = std::min(kStripe, s.vocabulary - token),
                                        .k = s.hidden,
                                        .a = hidden,
                                        .a_row = s.hidden,
                                        .b = transposed + token,
                                        .b_row = s.vocabulary,
                                        .c = logits + token,
                                        .c_row = s.vocabulary});
               });
}

template <typename T>
void norm_rows(const T* x, const T* weight, std::int64_t rows, std::int64_t width, double eps,
               T* out) {
  for_blocks(0, rows, width, [&](std::int64_t at, std::int64_t n) {
    for (std::int64_t t = at; t < at + n; ++t)
      kernels<T>().rms_norm(x + t * width, weight, width, eps, out + t * width);
  });
}

template <typename T>
void norm_rows_backward(std::int64_t rows, std::int64_t width, double eps,
                        const NormBackward<T>& pass) {
  const std::int64_t blocks = (rows + kBlock - 1) / kBlock;
  std::vector<T> sums(static_cast<std::size_t>(blocks * width));
  for_blocks(0, rows, width, [&](std::int64_t at, std::int64_t n) {
    for (std::int64_t t = at; t < at + n; ++t) {
      T* d_x = pass.d_x + t * width;
      std::fill_n(d_x, width, T{0});
      kernels<T>().rms_norm_backward(pass.x + t * width, pass.weight, pass.d_out + t * width, width,
                                     eps, d_x, sums.data() + at / kBlock * width);
    }
  });
  std::fill_n(pass.d_weight, width, T{0});
  for (std::int64_t b = 0; b < blocks; ++b)
    kernels<T>().add(sums.data() + b * width, width, pass.d_weight);
}

#define TRITONSMITH_INSTANTIATE(T)                                                     \
  template void head_logprob(const HeadShape<T>&, const HeadForward<T>&);              \
  template void head_logprob_backward(const HeadShape<T>&, const HeadBackward<T>&);    \
  template void head_logits(const HeadShape<T>&, const T*, const T*, T*);              \
  template void norm_rows(const T*, const T*, std::int64_t, std::int64_t, double, T*); \
  template void norm_rows_backward(std::int64_t, std::int64_t, double, const NormBackward<T>&);
TRITONSMITH_INSTANTIATE(float)
TRITONSMITH_INSTANTIATE(double)
#undef TRITONSMITH_INSTANTIATE

}  // namespace tritonsmith::model::cpu
