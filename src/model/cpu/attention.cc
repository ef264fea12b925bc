#include "model/cpu/attention.h"

#include <algorithm>
#include <cmath>

#include "model/cpu/kernels.h"
#include "model/cpu/parallel.h"
#include "model/cpu/scratch.h"

namespace tritonsmith::model::cpu {
namespace {

constexpr std::int64_t kBlock = 32;  // queries whose scores are in memory at once

// Columns that make whole vectors of every level's width: the last few of a product would be slow,
// and what the columns behind the last key hold is never read.
std::int64_t whole_vectors(std::int64_t columns) {
  constexpr std::int64_t kWidest = 16;
  return (columns + kWidest - 1) / kWidest * kWidest;
}

// [L, D] rows of keys or values as [D, width], zeros behind.
template <typename T>
void turn(const T* rows, std::int64_t length, std::int64_t D, std::int64_t stride,
          std::int64_t width, T* turned) {
  kernels<T>().transpose(rows, length, D, stride, turned, width);
  for (std::int64_t d = 0; d < D; ++d)
    std::fill(turned + d * width + length, turned + (d + 1) * width, T{0});
}

// One sequence and one key-value head of the packed rows.
struct HeadTask {
  std::int64_t begin, length, kv_head;
};

std::vector<HeadTask> head_tasks(const LayerShape& shape,
                                 const std::vector<std::int64_t>& offsets) {
  std::vector<HeadTask> tasks;
  for (std::size_t b = 0; b + 1 < offsets.size(); ++b)
    for (std::int64_t h = 0; h < shape.kv_heads; ++h)
      if (offsets[b + 1] > offsets[b])
        tasks.push_back({offsets[b], offsets[b + 1] - offsets[b], h});
  // Long sequences first, so that no thread is left with one at the end.
  std::ranges::stable_sort(tasks, std::greater{}, &HeadTask::length);
  return tasks;
}

std::int64_t work_of(const LayerShape& shape, const std::vector<HeadTask>& tasks) {
  std::int64_t work = 0;
  for (const HeadTask& task : tasks)
    work += task.length * task.length * shape.group() * shape.head_dim;
  return work;
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
                     width = whole_vectors(length);
  const T* base = qkv + task.begin * stride;
  const T* keys = base + shape.query() + task.kv_head * D;
  const T* values = keys + shape.key_value();
  T* turned = scratch<T>(0, D * width);
  turn(keys, length, D, stride, width, turned);
  T* scores = scratch<T>(1, kBlock * width);
  for (std::int64_t h = task.kv_head * shape.group(); h < (task.kv_head + 1) * shape.group(); ++h)
    for (std::int64_t from = 0; from < length; from += kBlock) {
      const std::int64_t to = std::min(from + kBlock, length);
      kernel.multiply({.m = to - from,
                       .n = whole_vectors(to),
                       .k = D,
                       .a = base + from * stride + h * D,
                       .a_row = stride,
                       .b = turned,
                       .b_row = width,
                       .c = scores,
                       .c_row = width});
      T factor[kBlock];
      for (std::int64_t i = from; i < to; ++i) {
        T* row = scores + (i - from) * width;
        T top = 0;
        const T sum = kernel.exponentiate(row, i + 1, scale_of<T>(shape), &top);
        std::fill(row + i + 1, row + to, T{0});
        factor[i - from] = T{1} / sum;
        if (log_normaliser != nullptr)
          log_normaliser[h * rows + task.begin + i] = top + std::log(sum);
      }
      T* out = attended + (task.begin + from) * shape.query() + h * D;
      kernel.multiply({.m = to - from,
                       .n = D,
                       .k = to,
                       .a = scores,
                       .a_row = width,
                       .b = values,
                       .b_row = stride,
                       .c = out,
                       .c_row = shape.query()});
      for (std::int64_t i = 0; i < to - from; ++i) {
        T* row = out + i * shape.query();
        kernel.scale(row, D, factor[i], row);
      }
    }
}

// Pieces of scratch of one backward task.
template <typename T>
struct BackwardScratch {
  T *turned_keys, *turned_values;  // [D, width], L rounded up
  T *d_keys, *d_values;            // [L, D], summed over the group
  T *p, *d_scores;                 // [kBlock, width]
};

// p and d_scores of queries [from, to) of head h.
template <typename T>
void score_gradients(const LayerShape& shape, const HeadTask& task,
                     const AttentionBackward<T>& pass, std::int64_t rows, std::int64_t h,
                     std::int64_t from, std::int64_t to, const BackwardScratch<T>& s) {
  const auto& kernel = kernels<T>();
  const std::int64_t D = shape.head_dim, width = whole_vectors(task.length),
                     out_row = shape.query();
  const T* queries = pass.qkv + (task.begin + from) * shape.qkv() + h * D;
  const T* d_out = pass.d_attended + (task.begin + from) * out_row + h * D;
  const T* out = pass.attended + (task.begin + from) * out_row + h * D;
  kernel.multiply({.m = to - from,
                   .n = whole_vectors(to),
                   .k = D,
                   .a = queries,
                   .a_row = shape.qkv(),
                   .b = s.turned_keys,
                   .b_row = width,
                   .c = s.p,
                   .c_row = width});
  kernel.multiply({.m = to - from,
                   .n = whole_vectors(to),
                   .k = D,
                   .a = d_out,
                   .a_row = out_row,
                   .b = s.turned_values,
                   .b_row = width,
                   .c = s.d_scores,
                   .c_row = width});
  for (std::int64_t i = from; i < to; ++i) {
    T* p = s.p + (i - from) * width;
    T* d = s.d_scores + (i - from) * width;
    kernel.probabilities(p, i + 1, scale_of<T>(shape),
                         pass.log_normaliser[h * rows + task.begin + i]);
    const T delta = kernel.dot(d_out + (i - from) * out_row, out + (i - from) * out_row, D);
    kernel.softmax_backward(p, d, i + 1, delta, scale_of<T>(shape));
    std::fill(p + i + 1, p + to, T{0});
    std::fill(d + i + 1, d + to, T{0});
  }
}

template <typename T>
void attend_head_backward(const LayerShape& shape, const HeadTask& task,
                          const AttentionBackward<T>& pass, std::int64_t rows) {
  const auto& kernel = kernels<T>();
  const std::int64_t D = shape.head_dim, stride = shape.qkv(), length = task.length,
                     width = whole_vectors(length);
  const T* base = pass.qkv + task.begin * stride;
  const T* keys = base + shape.query() + task.kv_head * D;
  const T* values = keys + shape.key_value();
  T* d_base = pass.d_qkv + task.begin * stride;
  T* d_keys = d_base + shape.query() + task.kv_head * D;
  T* d_values = d_keys + shape.key_value();
  const BackwardScratch<T> s = {scratch<T>(0, D * width),      scratch<T>(1, D * width),
                                scratch<T>(2, D * length),     scratch<T>(3, D * length),
                                scratch<T>(4, kBlock * width), scratch<T>(5, kBlock * width)};
  turn(keys, length, D, stride, width, s.turned_keys);
  turn(values, length, D, stride, width, s.turned_values);
  std::fill(s.d_keys, s.d_keys + D * length, T{0});
  std::fill(s.d_values, s.d_values + D * length, T{0});
  for (std::int64_t h = task.kv_head * shape.group(); h < (task.kv_head + 1) * shape.group(); ++h)
    for (std::int64_t from = 0; from < length; from += kBlock) {
      const std::int64_t to = std::min(from + kBlock, length);
      score_gradients(shape, task, pass, rows, h, from, to, s);
      const T* d_out = pass.d_attended + (task.begin + from) * shape.query() + h * D;
      kernel.multiply({.m = to,
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
      kernel.multiply({.m = to,
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
                       .k = to,
                       .a = s.d_scores,
                       .a_row = width,
                       .b = keys,
                       .b_row = stride,
                       .c = d_base + from * stride + h * D,
                       .c_row = stride});
    }
  for (std::int64_t j = 0; j < length; ++j) {
    std::copy_n(s.d_keys + j * D, D, d_keys + j * stride);
    std::copy_n(s.d_values + j * D, D, d_values + j * stride);
  }
}

}  // namespace

template <typename T>
void attend(const LayerShape& shape, const std::vector<std::int64_t>& offsets, const T* qkv,
            T* attended, T* log_normaliser) {
  const auto tasks = head_tasks(shape, offsets);
  parallel_for(std::ssize(tasks), work_of(shape, tasks), [&](std::int64_t i) {
    attend_head(shape, tasks[static_cast<std::size_t>(i)], qkv, attended, log_normaliser,
                offsets.back());
  });
}

template <typename T>
void attend_backward(const LayerShape& shape, const std::vector<std::int64_t>& offsets,
                     const AttentionBackward<T>& pass) {
  const auto tasks = head_tasks(shape, offsets);
  parallel_for(std::ssize(tasks), work_of(shape, tasks), [&](std::int64_t i) {
    attend_head_backward(shape, tasks[static_cast<std::size_t>(i)], pass, offsets.back());
  });
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

#define TRITONSMITH_INSTANTIATE(T)                                                             \
  template void attend(const LayerShape&, const std::vector<std::int64_t>&, const T*, T*, T*); \
  template void attend_backward(const LayerShape&, const std::vector<std::int64_t>&,           \
                                const AttentionBackward<T>&);                                  \
  template void attend_cached(const LayerShape&, const CachedHead<T>&, const T*, T*);
TRITONSMITH_INSTANTIATE(float)
TRITONSMITH_INSTANTIATE(double)
#undef TRITONSMITH_INSTANTIATE

}  // namespace tritonsmith::model::cpu
