// Attention on a GPU, packed and over the paged cache, against float64 in extreme cases: sequences
// of one token, scores of a thousand, equal scores. Skips without a GPU or without kernels in the
// build.
#include <ATen/ATen.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "model/layers/cuda_attention.h"
#include "model/layers/cuda_layer.h"
#include "model/layers/testing/exactness.h"

namespace tritonsmith::model {
namespace {

class CudaAttentionExtremes : public OnGpuByType {};
INSTANTIATE_TEST_SUITE_P(Types, CudaAttentionExtremes, ::testing::Values(at::kBFloat16, at::kHalf));

constexpr std::int64_t kQueryHeads = 4, kKeyHeads = 2;
const std::vector<int> kExtremeLengths = {1, 129, 1, 64, 300, 1};

// `size` of queries and keys; scores grow with its square. `of_out` and `of_gradient` limit the
// errors of a row and of a gradient, relative to their size without cancellation.
struct Scores {
  double size, of_out, of_gradient;
};
// Probabilities and results are each rounded once; those of gradients are bfloat16. float32 knows a
// score of a thousand to some 1e-3, and so the probabilities of two keys that compete.
std::vector<Scores> scores_for(at::ScalarType type) {
  const double ordinary = type == at::kHalf ? 1e-3 : 8e-3;
  return {{0, ordinary, 0.016}, {1, ordinary, 0.016}, {22, 8e-3, 0.016}};
}

// Packed projections of the sequences, and the arguments of their attention.
struct PackedScores {
  at::Tensor all;  // [T, heads + 2 kv_heads, D]
  QueryKeyValue parts;
  std::vector<int> offsets = {0};
  AttentionBatch attention;
};
PackedScores packed_scores(const at::Tensor& normal, double size, Sums sums) {
  PackedScores made{.all = normal};
  made.all.narrow(1, 0, kQueryHeads + kKeyHeads).mul_(size);
  made.parts = {made.all.narrow(1, 0, kQueryHeads), made.all.narrow(1, kQueryHeads, kKeyHeads),
                made.all.narrow(1, kQueryHeads + kKeyHeads, kKeyHeads)};
  for (const int length : kExtremeLengths) made.offsets.push_back(made.offsets.back() + length);
  made.attention = {.offsets = at::tensor(made.offsets, at::kInt).to(normal.device()),
                    .longest = 300,
                    .scale = 1 / std::sqrt(static_cast<double>(normal.size(2))),
                    .sums = sums};
  return made;
}

// The exact values of one sequence, [heads, S, D] each, and the sizes that they have without
// cancellation.
struct ExactAttention {
  at::Tensor out, query, key, value;
  at::Tensor size_of_query, size_of_key;
};
at::Tensor summed_by_key_head(const at::Tensor& of_heads) {
  return of_heads.unflatten(0, {kKeyHeads, kQueryHeads / kKeyHeads}).sum(1);
}
ExactAttention attend_in_float64(const QueryKeyValue& qkv, const at::Tensor& d_rows, double scale) {
  const auto heads = [](const at::Tensor& rows) {
    return wide(rows).transpose(0, 1).repeat_interleave(kQueryHeads / rows.size(1), 0);
  };
  const at::Tensor q = heads(qkv.query), k = heads(qkv.key), v = heads(qkv.value),
                   d = heads(d_rows);
  const at::Tensor scores = q.matmul(k.transpose(1, 2)) * scale;
  const at::Tensor later = at::ones_like(scores[0]).triu(1).to(at::kBool);
  const at::Tensor p = at::softmax(scores.masked_fill(later, -INFINITY), -1);
  const at::Tensor d_p = d.matmul(v.transpose(1, 2));
  const at::Tensor delta = (p * d_p).sum(-1, /*keepdim=*/true);
  const at::Tensor d_scores = p * (d_p - delta) * scale;
  const at::Tensor size = p * (d_p.abs() + (p * d_p.abs()).sum(-1, true)) * scale;
  return {.out = p.matmul(v),
          .query = d_scores.matmul(k),
          .key = summed_by_key_head(d_scores.transpose(1, 2).matmul(q)),
          .value = summed_by_key_head(p.transpose(1, 2).matmul(d)),
          .size_of_query = size.matmul(k.abs()),
          .size_of_key = summed_by_key_head(size.transpose(1, 2).matmul(q.abs()))};
}

// Returns the norm of the error relative to that of `size`; 0 if both are 0.
double share(const at::Tensor& got, const at::Tensor& expected, const at::Tensor& size) {
  const double off = (got - expected).norm().item<double>();
  return off == 0 ? 0 : off / size.norm().item<double>();
}

TEST_P(CudaAttentionExtremes, PackedSequencesBothWaysAreThoseOfFloat64) {
  for (const Sums sums : {Sums::fast, Sums::equal})
    for (const std::int64_t head_dim : {32, 64, 128})
      for (const Scores& of : scores_for(GetParam())) {
        const std::int64_t tokens = 496;
        const PackedScores some = packed_scores(
            normal({tokens, kQueryHeads + 2 * kKeyHeads, head_dim}, GetParam()), of.size, sums);
        ASSERT_EQ(some.offsets.back(), tokens);
        const Attended attended = cuda_attend(some.parts, some.attention);
        const at::Tensor d_out = normal({tokens, kQueryHeads, head_dim}, at::kBFloat16);
        // The backward sees values rounded to bfloat16. A float16 score of a thousand moves by
        // units then.
        const auto half = [](const at::Tensor& t) { return t.to(at::kBFloat16); };
        const QueryKeyValue seen = {half(some.parts.query), half(some.parts.key),
                                    half(some.parts.value)};
        const QueryKeyValue gradient = cuda_attend_backward(seen, attended, d_out, some.attention);
        for (std::size_t s = 0; s + 1 < some.offsets.size(); ++s) {
          const auto rows = [&](const at::Tensor& t) {
            return t.slice(0, some.offsets[s], some.offsets[s + 1]);
          };
          const auto got = [&](const at::Tensor& t) { return wide(rows(t)).transpose(0, 1); };
          const auto exact = [&](const QueryKeyValue& of_all) {
            return attend_in_float64({rows(of_all.query), rows(of_all.key), rows(of_all.value)},
                                     rows(d_out), some.attention.scale);
          };
          const at::Tensor out = exact(some.parts).out;
          const ExactAttention expected = exact(seen);
          const std::string name = fmt::format("size {}, head size {}, length {}", of.size,
                                               head_dim, kExtremeLengths[s]);
          EXPECT_LT(share(got(attended.out), out, out), of.of_out) << name;
          EXPECT_LT(share(got(gradient.query), expected.query, expected.size_of_query),
                    of.of_gradient)
              << name;
          EXPECT_LT(share(got(gradient.key), expected.key, expected.size_of_key), of.of_gradient)
              << name;
          EXPECT_LT(share(got(gradient.value), expected.value, expected.value), of.of_gradient)
              << name;
          if (kExtremeLengths[s] > 1) continue;  // one token attends to itself only
          const at::Tensor own =
              rows(some.parts.value).repeat_interleave(kQueryHeads / kKeyHeads, 1);
          EXPECT_TRUE(at::equal(rows(attended.out), own)) << name;
        }
      }
}

// The last token of each sequence attends to the cache. Rows after the sequence are NaN.
TEST_P(CudaAttentionExtremes, DecodingIsThatOfFloat64) {
  constexpr std::int64_t kHeadDim = 64;
  constexpr int kPagesPerSlot = 5;
  const int slots = static_cast<int>(kExtremeLengths.size());
  for (const bool is_in_order : {false, true})
    for (const Scores& of : scores_for(GetParam())) {
      const PackedScores some = packed_scores(
          normal({496, kQueryHeads + 2 * kKeyHeads, kHeadDim}, GetParam()), of.size, Sums::equal);
      const at::Tensor keys = at::full({slots * kPagesPerSlot, kKeyHeads, cuda::kPage, kHeadDim},
                                       std::nan(""), some.all.options()),
                       values = keys.clone();
      std::vector<int> positions;
      std::vector<std::int64_t> last;
      for (int s = 0; s < slots; ++s) {
        const int begin = some.offsets[static_cast<std::size_t>(s)];
        const int length = kExtremeLengths[static_cast<std::size_t>(s)];
        for (int at = 0; at < length; at += cuda::kPage) {
          const int page = s * kPagesPerSlot + at / cuda::kPage;
          const int count = std::min(cuda::kPage, length - at);
          const auto to_page = [&](const at::Tensor& cache, const at::Tensor& rows) {
            cache[page]
                .narrow(1, 0, count)
                .copy_(rows.narrow(0, begin + at, count).transpose(0, 1));
          };
          to_page(keys, some.parts.key), to_page(values, some.parts.value);
        }
        positions.push_back(length - 1);
        last.push_back(begin + length - 1);
      }
      const auto on_device = [&](const at::Tensor& t) { return t.to(device_); };
      const at::Tensor rows =
          some.all.flatten(1).index_select(0, on_device(at::tensor(last, at::kLong)));
      const at::Tensor at_slots = on_device(at::arange(slots, at::kInt)),
                       at_positions = on_device(at::tensor(positions, at::kInt)),
                       table = on_device(at::arange(slots * kPagesPerSlot, at::kInt));
      const auto floats = rows.options().dtype(at::kFloat);
      constexpr int kSplits = 3;
      const at::Tensor out = at::full({slots, kQueryHeads, kHeadDim}, std::nan(""), rows.options()),
                       part_out = at::empty({slots, kQueryHeads, kSplits, kHeadDim}, floats),
                       part_norm = at::empty({slots, kQueryHeads, kSplits}, floats);
      const auto decode = is_in_order ? cuda::kernels()->decode_in_order : cuda::kernels()->decode;
      decode({.qkv = data<cuda::Half>(rows),
              .row_stride = static_cast<int>(rows.size(1)),
              .slots = data<int>(at_slots),
              .positions = data<int>(at_positions),
              .cache = {data<cuda::Half>(keys), data<cuda::Half>(values), data<int>(table),
                        kPagesPerSlot},
              .out = data<cuda::Half>(out),
              .part_out = data<float>(part_out),
              .part_norm = data<float>(part_norm),
              .rows = slots,
              .heads = static_cast<int>(kQueryHeads),
              .kv_heads = static_cast<int>(kKeyHeads),
              .head_dim = static_cast<int>(kHeadDim),
              .splits = kSplits,
              .scale = static_cast<float>(some.attention.scale),
              .type = half_type_of(rows)},
             stream());
      for (std::size_t s = 0; s < kExtremeLengths.size(); ++s) {
        const auto part = [&](const at::Tensor& t) {
          return t.slice(0, some.offsets[s], some.offsets[s + 1]);
        };
        const QueryKeyValue sequence = {part(some.parts.query), part(some.parts.key),
                                        part(some.parts.value)};
        const ExactAttention whole = attend_in_float64(
            sequence, at::zeros_like(sequence.query).contiguous(), some.attention.scale);
        const at::Tensor expected = whole.out.select(1, -1);  // [heads, D]
        EXPECT_LT(share(wide(out[static_cast<std::int64_t>(s)]), expected, expected), of.of_out)
            << "size " << of.size << ", length " << kExtremeLengths[s]
            << (is_in_order ? ", in order" : "");
      }
    }
}

}  // namespace
}  // namespace tritonsmith::model
