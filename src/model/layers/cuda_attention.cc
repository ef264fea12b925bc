#include "model/layers/cuda_attention.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <array>
#include <map>
#include <mutex>
#include <tuple>

#include "base/check.h"
#include "base/log.h"
#include "model/cublas/cublas.h"

namespace tritonsmith::model {
namespace {

// Shorter sequences gain nothing from cuDNN.
constexpr std::int64_t kShortest = 256;
// cuDNN makes an execution plan for every shape. It pays off after several passes through all
// layers.
constexpr int kFrequentShape = 300;

// Returns the offsets of the keys as attention reads them.
const at::Tensor& key_offsets(const AttentionBatch& batch) {
  return batch.shared != nullptr ? batch.shared->offsets : batch.offsets;
}
std::int64_t longest_keys(const AttentionBatch& batch) {
  return batch.shared != nullptr ? batch.shared->longest : batch.longest;
}

const cuda::Half* rows_of(const at::Tensor& tensor) {
  return static_cast<const cuda::Half*>(tensor.const_data_ptr());
}
cuda::Half* writable_rows(const at::Tensor& tensor) {
  return static_cast<cuda::Half*>(tensor.mutable_data_ptr());
}
const int* indices(const at::Tensor& tensor) { return tensor.const_data_ptr<int>(); }

// Lays out heads [T, heads, D] as the sequences attend to them: [K, heads, D].
at::Tensor by_use(const at::Tensor& heads, const SharedRows& shared) {
  const std::int64_t count = shared.rows.size(0);
  at::Tensor out = at::empty({count, heads.size(1), heads.size(2)}, heads.options());
  cuda::kernels()->gather_rows({.rows_in = rows_of(heads),
                                .stride = heads.stride(0),
                                .rows = indices(shared.rows),
                                .out = writable_rows(out),
                                .count = count,
                                .columns = static_cast<int>(heads.size(1) * heads.size(2))},
                               current_stream(heads.device()));
  return out;
}

QueryKeyValue by_use(const QueryKeyValue& qkv, const AttentionBatch& batch) {
  if (batch.shared == nullptr) return qkv;
  return {qkv.query, by_use(qkv.key, *batch.shared), by_use(qkv.value, *batch.shared)};
}

// The reverse for bfloat16 gradients: sums over the uses of each row.
at::Tensor sum_of_uses(const at::Tensor& gradient, const SharedRows& shared) {
  const at::Tensor from = gradient.contiguous();
  const std::int64_t count = shared.use_offsets.size(0) - 1;
  at::Tensor out = at::empty({count, from.size(1), from.size(2)}, from.options());
  CHECK(from.scalar_type() == at::kBFloat16, "gradients are bfloat16");
  cuda::kernels()->sum_rows({.rows_in = rows_of(from),
                             .uses = indices(shared.uses),
                             .use_offsets = indices(shared.use_offsets),
                             .out = writable_rows(out),
                             .count = count,
                             .columns = static_cast<int>(from.size(1) * from.size(2))},
                            current_stream(from.device()));
  return out;
}

Attended flash(const QueryKeyValue& qkv, const AttentionBatch& batch) {
  Attended attended;
  // If a sequence has fewer queries than keys, they are those of its last tokens.
  std::tie(attended.out, attended.log_normaliser, attended.random_state, attended.unused,
           std::ignore) =
      at::_flash_attention_forward(qkv.query, qkv.key, qkv.value, batch.offsets, key_offsets(batch),
                                   batch.longest, longest_keys(batch), 0.0, /*is_causal=*/true,
                                   /*return_debug_mask=*/false, batch.scale);
  return attended;
}

QueryKeyValue flash_backward(const QueryKeyValue& qkv, const Attended& attended,
                             const at::Tensor& d_out, const AttentionBatch& batch) {
  const auto [query, key, value] = at::_flash_attention_backward(
      d_out, qkv.query, qkv.key, qkv.value, attended.out, attended.log_normaliser, batch.offsets,
      key_offsets(batch), batch.longest, longest_keys(batch), 0.0, /*is_causal=*/true,
      attended.random_state, attended.unused, batch.scale);
  return {query.contiguous(), key.contiguous(), value.contiguous()};
}

// Views [T, heads, D] of sequences of one length as [B, heads, S, D], in the same memory, and back.
at::Tensor by_sequence(const at::Tensor& rows, const AttentionBatch& batch) {
  return rows.unflatten(0, {rows.size(0) / batch.longest, batch.longest}).transpose(1, 2);
}
at::Tensor by_token(const at::Tensor& sequences) {
  return sequences.transpose(1, 2).flatten(0, 1).contiguous();
}

Attended cudnn(const QueryKeyValue& qkv, const AttentionBatch& batch) {
  const auto all = at::_cudnn_attention_forward(
      by_sequence(qkv.query, batch), by_sequence(qkv.key, batch), by_sequence(qkv.value, batch), {},
      {}, {}, batch.longest, batch.longest, /*compute_log_sumexp=*/true, 0.0, /*is_causal=*/true,
      /*return_debug_mask=*/false, batch.scale);
  return {.out = by_token(std::get<0>(all)),
          .log_normaliser = std::get<1>(all),
          .random_state = std::get<6>(all),
          .unused = std::get<7>(all)};
}

QueryKeyValue cudnn_backward(const QueryKeyValue& qkv, const Attended& attended,
                             const at::Tensor& d_out, const AttentionBatch& batch) {
  const auto [query, key, value] = at::_cudnn_attention_backward(
      by_sequence(d_out, batch), by_sequence(qkv.query, batch), by_sequence(qkv.key, batch),
      by_sequence(qkv.value, batch), by_sequence(attended.out, batch), attended.log_normaliser,
      attended.random_state, attended.unused, {}, {}, {}, batch.longest, batch.longest, 0.0,
      /*is_causal=*/true, batch.scale);
  return {by_token(query), by_token(key), by_token(value)};
}

double difference(const at::Tensor& got, const at::Tensor& expected) {
  return ((got.to(at::kFloat) - expected.to(at::kFloat)).norm() / expected.to(at::kFloat).norm())
      .item<double>();
}

// Compares cuDNN's forward and backward with the reference on two short sequences with such heads.
bool is_cudnn_right(const QueryKeyValue& like) {
  constexpr std::int64_t kLength = kShortest;
  constexpr double kRounding = 0.03;
  const at::NoGradGuard no_grad;
  const auto wave = [&](const at::Tensor& of, double step) {
    const std::int64_t rows = 2 * kLength, heads = of.size(1), head_dim = of.size(2);
    return at::sin(step *
                   at::arange(rows * heads * head_dim, of.options().dtype(at::kFloat)).fmod(4096))
        .view({rows, heads, head_dim})
        .to(of.scalar_type());
  };
  const QueryKeyValue qkv = {wave(like.query, 0.37), wave(like.key, 0.53), wave(like.value, 0.71)};
  const AttentionBatch batch = {
      .offsets = at::arange(3, like.query.options().dtype(at::kInt)) * kLength,
      .longest = kLength,
      .is_even = true,
      .scale = 0.1};
  try {
    const at::Tensor d_out = wave(like.query, 0.29);
    const Attended attended = cudnn(qkv, batch), other = flash(qkv, batch);
    const QueryKeyValue got = cudnn_backward(qkv, attended, d_out, batch),
                        expected = flash_backward(qkv, other, d_out, batch);
    return difference(attended.out, other.out) < kRounding &&
           difference(got.query, expected.query) < kRounding &&
           difference(got.key, expected.key) < kRounding &&
           difference(got.value, expected.value) < kRounding;
  } catch (const std::exception& error) {
    const std::string_view what = error.what();
    LOG("attention by FlashAttention alone, since cuDNN's fails: {}",
        what.substr(0, what.find('\n')));
    return false;
  }
}

// Knows whether cuDNN supports such heads, which is tried once, and how often each shape was used.
class Known {
 public:
  static Known& instance() {
    static auto* known = new Known;  // never destroyed, because CUDA may end first
    return *known;
  }

  bool is_frequent_and_right(const QueryKeyValue& qkv, const AttentionBatch& batch) {
    const std::lock_guard lock(mutex_);
    constexpr std::size_t kMostShapes = 4096;
    if (uses_.size() > kMostShapes) uses_.clear();
    if (++uses_[{qkv.query.size(0), batch.longest}] < kFrequentShape) return false;
    const std::array<std::int64_t, 4> kind = {
        qkv.query.size(1), qkv.key.size(1), qkv.query.size(2),
        static_cast<std::int64_t>(qkv.query.device().index())};
    const auto found = right_.find(kind);
    if (found != right_.end()) return found->second;
    const auto half = [](const at::Tensor& t) { return t.to(at::kBFloat16); };
    return right_[kind] = is_cudnn_right({half(qkv.query), half(qkv.key), half(qkv.value)});
  }

 private:
  std::mutex mutex_;
  std::map<std::array<std::int64_t, 2>, int> uses_;
  std::map<std::array<std::int64_t, 4>, bool> right_;
};

bool uses_cudnn(const QueryKeyValue& qkv, const AttentionBatch& batch) {
  return batch.is_even && batch.shared == nullptr && batch.longest >= kShortest &&
         Known::instance().is_frequent_and_right(qkv, batch);
}

// Makes the data that either library's backward reads from the forward of our own kernel.
Attended in_order(const QueryKeyValue& qkv, const AttentionBatch& batch) {
  const std::int64_t tokens = qkv.query.size(0), heads = qkv.query.size(1);
  const auto on_device = [&](at::ScalarType type) { return qkv.query.options().dtype(type); };
  const at::Tensor out = at::empty({tokens, heads, qkv.query.size(2)}, qkv.query.options());
  const at::Tensor log_normaliser = at::empty({heads, tokens}, on_device(at::kFloat));
  const bool is_float16 = out.scalar_type() == at::kHalf;
  cuda::kernels()->attend_in_order(
      {.queries = rows_of(qkv.query),
       .keys = rows_of(qkv.key),
       .values = rows_of(qkv.value),
       .query_stride = qkv.query.stride(0),
       .key_stride = qkv.key.stride(0),
       .value_stride = qkv.value.stride(0),
       .offsets = indices(batch.offsets),
       .key_offsets = indices(key_offsets(batch)),
       .out = writable_rows(out),
       .log_normaliser = log_normaliser.mutable_data_ptr<float>(),
       .tokens = tokens,
       .sequences = static_cast<int>(batch.offsets.size(0) - 1),
       .longest = static_cast<int>(longest_keys(batch)),
       .heads = static_cast<int>(heads),
       .kv_heads = static_cast<int>(qkv.key.size(1)),
       .head_dim = static_cast<int>(out.size(2)),
       .scale = static_cast<float>(batch.scale),
       .type = is_float16 ? cuda::HalfType::float16 : cuda::HalfType::bfloat16},
      current_stream(out.device()));
  // Without dropout neither library uses the random state, but each wants its own type.
  if (!uses_cudnn(qkv, batch))
    return {.out = out,
            .log_normaliser = log_normaliser,
            .random_state = at::empty({2}, on_device(at::kUInt64)),
            .unused = at::empty({}, on_device(at::kUInt64))};
  const at::Tensor by_sequences =
      log_normaliser.view({heads, -1, batch.longest}).transpose(0, 1).unsqueeze(-1).contiguous();
  return {.out = out,
          .log_normaliser = by_sequences,  // [B, heads, S, 1]
          .random_state = at::zeros({}, on_device(at::kLong)),
          .unused = at::zeros({}, on_device(at::kLong))};
}

// Calls one of the libraries; keys and values are as the sequences attend to them.
Attended attend_fast(const QueryKeyValue& qkv, const AttentionBatch& batch) {
  return uses_cudnn(qkv, batch) ? cudnn(qkv, batch) : flash(qkv, batch);
}

QueryKeyValue gradients_of(const QueryKeyValue& qkv, const Attended& attended,
                           const at::Tensor& d_out, const AttentionBatch& batch) {
  const bool is_by_cudnn = attended.log_normaliser.dim() > 2;  // FlashAttention's is [heads, T]
  if (is_by_cudnn) return cudnn_backward(qkv, attended, d_out, batch);
  QueryKeyValue gradient = flash_backward(qkv, attended, d_out, batch);
  if (batch.shared == nullptr) return gradient;
  return {gradient.query, sum_of_uses(gradient.key, *batch.shared),
          sum_of_uses(gradient.value, *batch.shared)};
}

}  // namespace

Attended cuda_attend(const QueryKeyValue& compact, const AttentionBatch& batch) {
  const QueryKeyValue qkv = by_use(compact, batch);
  return batch.sums == Sums::equal ? in_order(qkv, batch) : attend_fast(qkv, batch);
}

QueryKeyValue cuda_attend_backward(const QueryKeyValue& compact, const Attended& attended,
                                   const at::Tensor& d_out, const AttentionBatch& batch) {
  const QueryKeyValue qkv = by_use(compact, batch);
  const bool is_of_type = attended.out.scalar_type() == qkv.query.scalar_type();
  return gradients_of(qkv, is_of_type ? attended : attend_fast(qkv, batch), d_out, batch);
}

}  // namespace tritonsmith::model
