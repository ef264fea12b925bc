#include "model/cpu/attention.h"

#include <algorithm>
#include <cmath>

#include "model/cpu/kernels.h"
#include "model/cpu/parallel.h"
#include "model/cpu/scratch.h"

namespace tritonsmith::model::cpu {
namespace {

constexpr std::int64_t kBlock = 32;  // queries whose scores are in memory at once

// Rounds up to whole vectors of every level's width, because a product's last odd columns are slow.
// The columns after the last key are never read.
std::int64_t whole_vectors(std::int64_t columns) {
  constexpr std::int64_t kWidest = 16;
  return (columns + kWidest - 1) / kWidest * kWidest;
}

// Transposes [L, D] rows of keys or values into [D, width], with zeros after the last row.
template <typename T>
void transpose_rows(const T* rows, std::int64_t length, std::int64_t D, std::int64_t stride,
                    std::int64_t width, T* transposed) {
  kernels<T>().transpose(rows, length, D, stride, transposed, width);
  for (std::int64_t d = 0; d < D; ++d)
    std::fill(transposed + d * width + length, transposed + (d + 1) * width, T{0});
}

// One sequence and one key-value head of the packed rows.
struct HeadTask {
  std::int64_t begin, length, kv_head;
  std::int64_t before = 0;                 // tokens of the sequence before its own rows
  std::int64_t first_key = 0;              // the sequence's first index among the shared keys
  const std::int64_t* key_rows = nullptr;  // [keys()]; null if the batch shares nothing

  std::int64_t keys() const { return before + length; }
  std::int64_t work() const { return length * keys(); }
};

std::vector<HeadTask> head_tasks(const LayerShape& shape, const std::vector<std::int64_t>& offsets,
                                 const SharedKeys* shared) {
  std::vector<HeadTask> tasks;
  for (std::size_t b = 0; b + 1 < offsets.size(); ++b) {
    HeadTask task{.begin = offsets[b], .length = offsets[b + 1] - offsets[b], .kv_head = 0};
    if (task.length == 0) continue;
    if (shared != nullptr) {
      task.first_key = shared->offsets[b];
      task.before = shared->offsets[b + 1] - task.first_key - task.length;
      task.key_rows = shared->rows.data() + task.first_key;
    }
    for (; task.kv_head < shape.kv_heads; ++task.kv_head) tasks.push_back(task);
  }
  // Long sequences come first, so that no thread begins one at the end.
  std::ranges::stable_sort(tasks, std::greater{}, &HeadTask::work);
  return tasks;
}

std::int64_t work_of(const LayerShape& shape, const std::vector<HeadTask>& tasks) {
  std::int64_t work = 0;
  for (const HeadTask& task : tasks) work += task.work() * shape.group() * shape.head_dim;
  return work;
}

// The keys and values of a task, [keys, D] each.
template <typename T>
struct HeadRows {
  const T *keys, *values;
  std::int64_t stride;
};

// Copies rows that lie apart into the pieces of scratch after the first six.
template <typename T>
HeadRows<T> head_rows(const LayerShape& shape, const HeadTask& task, const T* qkv) {
  const std::int64_t D = shape.head_dim, stride = shape.qkv();
  const T* keys = qkv + shape.query() + task.kv_head * D;
  const T* values = keys + shape.key_value();
  if (task.before == 0) return {keys + task.begin * stride, values + task.begin * stride, stride};
  T* own_keys = scratch<T>(6, D * task.keys());
  T* own_values = scratch<T>(7, D * task.keys());
  for (std::int64_t j = 0; j < task.keys(); ++j) {
    std::copy_n(keys + task.key_rows[j] * stride, D, own_keys + j * D);
    std::copy_n(values + task.key_rows[j] * stride, D, own_values + j * D);
  }
  return {own_keys, own_values, D};
}

template <typename T>
T scale_of(const LayerShape& shape) {
  return static_cast<T>(1.0 / std::sqrt(static_cast<double>(shape.head_dim)));
}

template <typename T>
void attend_head(const LayerShape& shape, const HeadTask& task, const T* qkv, T* attended,
                 T* log_normaliser, std::int64_t rows) {
  const auto& kernel = kernels<T>();
  const std::int64_t D = shape.head_dim, stride = shape.qkv(), length = task.length,
                     before = task.before, width = whole_vectors(task.keys());
  const T* base = qkv + task.begin * stride;
  const HeadRows<T> rows_of_head = head_rows(shape, task, qkv);
  T* transposed = scratch<T>(0, D * width);
  transpose_rows(rows_of_head.keys, task.keys(), D, rows_of_head.stride, width, transposed);
  T* scores = scratch<T>(1, kBlock * width);
  for (std::int64_t h = task.kv_head * shape.group(); h < (task.kv_head + 1) * shape.group(); ++h)
    for (std::int64_t from = 0; from < length; from += kBlock) {
      const std::int64_t to = std::min(from + kBlock, length);
      kernel.multiply({.m = to - from,
                       .n = whole_vectors(before + to),
                       .k = D,
                       .a = base + from * stride + h * D,
                       .a_row = stride,
                       .b = transposed,
                       .b_row = width,
                       .c = scores,
                       .c_row = width});
      T factor[kBlock];
      for (std::int64_t i = from; i < to; ++i) {
        T* row = scores + (i - from) * width;
        T top = 0;
        const T sum = kernel.exponentiate(row, before + i + 1, scale_of<T>(shape), &top);
        std::fill(row + before + i + 1, row + before + to, T{0});
        factor[i - from] = T{1} / sum;
        if (log_normaliser != nullptr)
          log_normaliser[h * rows + task.begin + i] = top + std::log(sum);
      }
      T* out = attended + (task.begin + from) * shape.query() + h * D;
      kernel.multiply({.m = to - from,
                       .n = D,
                       .k = before + to,
                       .a = scores,
                       .a_row = width,
                       .b = rows_of_head.values,
                       .b_row = rows_of_head.stride,
                       .c = out,
                       .c_row = shape.query()});
      for (std::int64_t i = 0; i < to - from; ++i) {
        T* row = out + i * shape.query();
        kernel.scale(row, D, factor[i], row);
      }
    }
}

// The pieces of scratch of one backward task.
template <typename T>
struct BackwardScratch {
  T *transposed_keys, *transposed_values;  // [D, width], the number of keys rounded up
  T *d_keys, *d_values;                    // [keys, D], summed over the group
  T *p, *d_scores;                         // [kBlock, width]
};

// Computes p and d_scores of queries [from, to) of head h.
template <typename T>
void score_gradients(const LayerShape& shape, const HeadTask& task,
                     const AttentionBackward<T>& pass, std::int64_t rows, std::int64_t h,
                     std::int64_t from, std::int64_t to, const BackwardScratch<T>& s) {
  const auto& kernel = kernels<T>();
  const std::int64_t D = shape.head_dim, width = whole_vectors(task.keys()), before = task.before,
                     out_row = shape.query();
  const T* queries = pass.qkv + (task.begin + from) * shape.qkv() + h * D;
  const T* d_out = pass.d_attended + (task.begin + from) * out_row + h * D;
  const T* out = pass.attended + (task.begin + from) * out_row + h * D;
  kernel.multiply({.m = to - from,
                   .n = whole_vectors(before + to),
                   .k = D,
                   .a = queries,
                   .a_row = shape.qkv(),
                   .b = s.transposed_keys,
                   .b_row = width,
                   .c = s.p,
                   .c_row = width});
  kernel.multiply({.m = to - from,
                   .n = whole_vectors(before + to),
                   .k = D,
                   .a = d_out,
                   .a_row = out_row,
                   .b = s.transposed_values,
                   .b_row = width,
                   .c = s.d_scores,
                   .c_row = width});
  for (std::int64_t i = from; i < to; ++i) {
    T* p = s.p + (i - from) * width;
    T* d = s.d_scores + (i - from) * width;
    kernel.probabilities(p, before + i + 1, scale_of<T>(shape),
                         pass.log_normaliser[h * rows + task.begin + i]);
    const T delta = kernel.dot(d_out + (i - from) * out_row, out + (i - from) * out_row, D);
    kernel.softmax_backward(p, d, before + i + 1, delta, scale_of<T>(shape));
    std::fill(p + before + i + 1, p + before + to, T{0});
    std::fill(d + before + i + 1, d + before + to, T{0});
  }
}

// The gradients of the keys and, at an offset, of the values, as rows with a stride.
template <typename T>
struct KeyGradients {
  T* keys;
  std::int64_t stride;
};

template <typename T>
void attend_head_backward(const LayerShape& shape, const HeadTask& task,
                          const AttentionBackward<T>& pass, std::int64_t rows,
                          const KeyGradients<T>& out) {
  const auto& kernel = kernels<T>();
  const std::int64_t D = shape.head_dim, stride = shape.qkv(), length = task.length,
                     count = task.keys(), width = whole_vectors(count);
  const T* base = pass.qkv + task.begin * stride;
  const HeadRows<T> rows_of_head = head_rows(shape, task, pass.qkv);
  T* d_base = pass.d_qkv + task.begin * stride;
  const BackwardScratch<T> s = {scratch<T>(0, D * width),      scratch<T>(1, D * width),
                                scratch<T>(2, D * count),      scratch<T>(3, D * count),
                                scratch<T>(4, kBlock * width), scratch<T>(5, kBlock * width)};
  transpose_rows(rows_of_head.keys, count, D, rows_of_head.stride, width, s.transposed_keys);
  transpose_rows(rows_of_head.values, count, D, rows_of_head.stride, width, s.transposed_values);
  std::fill(s.d_keys, s.d_keys + D * count, T{0});
  std::fill(s.d_values, s.d_values + D * count, T{0});
  for (std::int64_t h = task.kv_head * shape.group(); h < (task.kv_head + 1) * shape.group(); ++h)
    for (std::int64_t from = 0; from < length; from += kBlock) {
      const std::int64_t to = std::min(from + kBlock, length);
      score_gradients(shape, task, pass, rows, h, from, to, s);
      const T* d_out = pass.d_attended + (task.begin + from) * shape.query() + h * D;
      kernel.multiply({.m = task.before + to,
                       .n = D,
                       .k = to - from,
                       .a = s.p,
                       .a_row = 1,
                       .a_column = width,
                       .b = d_out,
                       .b_row = shape.query(),
                       .c = s.d_values,
                       .c_row = D,
                       .accumulate = true});
      kernel.multiply({.m = task.before + to,
                       .n = D,
                       .k = to - from,
                       .a = s.d_scores,
                       .a_row = 1,
                       .a_column = width,
                       .b = base + from * stride + h * D,
                       .b_row = stride,
                       .c = s.d_keys,
                       .c_row = D,
                       .accumulate = true});
      kernel.multiply({.m = to - from,
                       .n = D,
                       .k = task.before + to,
                       .a = s.d_scores,
                       .a_row = width,
                       .b = rows_of_head.keys,
                       .b_row = rows_of_head.stride,
                       .c = d_base + from * stride + h * D,
                       .c_row = stride});
    }
  for (std::int64_t j = 0; j < count; ++j) {
    T* d_key = out.keys + j * out.stride + task.kv_head * D;
    std::copy_n(s.d_keys + j * D, D, d_key);
    std::copy_n(s.d_values + j * D, D, d_key + shape.key_value());
  }
}

// Writes the keys' and values' part of d_qkv. For each row it sums over all sequences that attend
// to it, in their order. `from` is [K, 2 key_value].
template <typename T>
void sum_uses(const LayerShape& shape, const SharedKeys& shared, const T* from, T* d_qkv) {
  const std::int64_t width = 2 * shape.key_value(), rows = std::ssize(shared.use_offsets) - 1;
  constexpr std::int64_t kRows = 64;
  parallel_for((rows + kRows - 1) / kRows, std::ssize(shared.rows) * width, [&](std::int64_t i) {
    for (std::int64_t t = i * kRows; t < std::min(rows, (i + 1) * kRows); ++t) {
      const auto at = static_cast<std::size_t>(t);
      T* sum = d_qkv + t * shape.qkv() + shape.query();
      std::fill_n(sum, width, T{0});
      for (std::int64_t u = shared.use_offsets[at]; u < shared.use_offsets[at + 1]; ++u)
        kernels<T>().add(from + shared.uses[static_cast<std::size_t>(u)] * width, width, sum);
    }
  });
}

}  // namespace

template <typename T>
void attend(const LayerShape& shape, const std::vector<std::int64_t>& offsets, const T* qkv,
            T* attended, T* log_normaliser, const SharedKeys* shared) {
  const auto tasks = head_tasks(shape, offsets, shared);
  parallel_for(std::ssize(tasks), work_of(shape, tasks), [&](std::int64_t i) {
    attend_head(shape, tasks[static_cast<std::size_t>(i)], qkv, attended, log_normaliser,
                offsets.back());
  });
}

template <typename T>
void attend_backward(const LayerShape& shape, const std::vector<std::int64_t>& offsets,
                     const AttentionBackward<T>& pass, const SharedKeys* shared) {
  const auto tasks = head_tasks(shape, offsets, shared);
  const std::int64_t key_values = 2 * shape.key_value();
  const Buffer<T> by_use(shared != nullptr ? std::ssize(shared->rows) * key_values : 0);
  parallel_for(std::ssize(tasks), work_of(shape, tasks), [&](std::int64_t i) {
    const HeadTask& task = tasks[static_cast<std::size_t>(i)];
    const KeyGradients<T> out =
        shared != nullptr
            ? KeyGradients<T>{by_use.data() + task.first_key * key_values, key_values}
            : KeyGradients<T>{pass.d_qkv + task.begin * shape.qkv() + shape.query(), shape.qkv()};
    attend_head_backward(shape, task, pass, offsets.back(), out);
  });
  if (shared != nullptr) sum_uses(shape, *shared, by_use.data(), pass.d_qkv);
}

template <typename T>
void attend_cached(const LayerShape& shape, const CachedHead<T>& cache, const T* queries, T* out) {
  const auto& kernel = kernels<T>();
  const std::int64_t D = shape.head_dim, length = cache.length, width = whole_vectors(length);
  T* scores = scratch<T>(1, shape.group() * width);
  kernel.multiply({.m = shape.group(),
                   .n = width,
                   .k = D,
                   .a = queries,
                   .a_row = D,
                   .b = cache.keys,
                   .b_row = cache.capacity,
                   .c = scores,
                   .c_row = width});
  T* factor = scratch<T>(2, shape.group());
  for (std::int64_t h = 0; h < shape.group(); ++h) {
    T top = 0;
    factor[h] = T{1} / kernel.exponentiate(scores + h * width, length, scale_of<T>(shape), &top);
  }
  kernel.multiply({.m = shape.group(),
                   .n = D,
                   .k = length,
                   .a = scores,
                   .a_row = width,
                   .b = cache.values,
                   .b_row = D,
                   .c = out,
                   .c_row = D});
  for (std::int64_t h = 0; h < shape.group(); ++h)
    kernel.scale(out + h * D, D, factor[h], out + h * D);
}

#define TRITONSMITH_INSTANTIATE(T)                                                            \
  template void attend(const LayerShape&, const std::vector<std::int64_t>&, const T*, T*, T*, \
                       const SharedKeys*);                                                    \
  template void attend_backward(const LayerShape&, const std::vector<std::int64_t>&,          \
                                const AttentionBackward<T>&, const SharedKeys*);              \
  template void attend_cached(const LayerShape&, const CachedHead<T>&, const T*, T*);
TRITONSMITH_INSTANTIATE(float)
TRITONSMITH_INSTANTIATE(double)
#undef TRITONSMITH_INSTANTIATE

}  // namespace tritonsmith::model::cpu
