// Sums in one order (model/config/sums.h): a row has the same bits in every kernel and beside any other
// rows. Skips without a GPU or without kernels in the build.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>

#include "base/rng.h"
#include "model/layers/cuda_attention.h"
#include "model/layers/cuda_layer.h"
#include "model/layers/linear_logprob.h"
#include "model/layers/testing/on_gpu.h"
#include "model/transformer/transformer.h"

namespace tritonsmith::model {
namespace {

class CudaSums : public OnGpuBy<at::ScalarType, 3> {
 protected:
  // Returns numbers in the 16-bit type.
  at::Tensor halves(std::vector<std::int64_t> shape) const {
    return normal(std::move(shape), GetParam());
  }
};
INSTANTIATE_TEST_SUITE_P(Types, CudaSums, ::testing::Values(at::kBFloat16, at::kHalf));

// The error of two roundings.
double rounding_twice(at::ScalarType type) { return 2 * rounding_of_norm(type); }

// A tensor core adds sixteen products at a time to a float32 sum and truncates it. Each time it
// loses at most a unit in the last place. The factor and the addend lose two more.
double lost_by_a_sum(int depth) { return std::ldexp(depth / 16.0 + 2, -23); }

TEST_P(CudaSums, AProductsRowHasTheSameBitsInAnyBatch) {
  Cublas trainer(device_, KernelChoice::measure_if_frequent, Sums::equal);
  Cublas engine(device_, KernelChoice::measure, Sums::equal);
  for (const auto& [in, out] : {std::array{2048, 2560}, std::array{11008, 2048},
                                std::array{2048, 22016}, std::array{96, 352}}) {
    const at::Tensor x = halves({700, in}), w = halves({out, in}), bias = halves({out});
    const at::Tensor addend = normal({700, out});
    const at::Tensor half = at::empty({700, out}, x.options()), sum = at::empty_like(addend);
    trainer.linear(half, x, w, bias);
    trainer.linear_onto(sum, addend, x, w, 0.5);
    const at::Tensor expected = wide(x).matmul(wide(w).t());
    EXPECT_LT(difference(half, expected + wide(bias)), rounding_twice(GetParam()));
    EXPECT_LT(difference(sum, 0.5 * expected + wide(addend)), lost_by_a_sum(in));
    for (const std::int64_t rows : {1, 8, 64, 160, 256}) {
      const at::Tensor few = x.narrow(0, 700 - rows, rows);
      const at::Tensor half_few = at::empty({rows, out}, x.options());
      engine.linear(half_few, few, w, bias);
      EXPECT_TRUE(at::equal(half_few, half.narrow(0, 700 - rows, rows))) << rows << " of " << in;
      const at::Tensor sum_few = addend.narrow(0, 700 - rows, rows).clone();
      engine.linear_onto(sum_few, sum_few, few, w, 0.5);
      EXPECT_TRUE(at::equal(sum_few, sum.narrow(0, 700 - rows, rows))) << rows << " of " << in;
      const at::Tensor sum_later = addend.narrow(0, 700 - rows, rows).clone();
      const at::Tensor parts = at::empty({kMostSumParts, rows, out}, addend.options());
      const int count = engine.linear_onto_in_parts(sum_later, parts, few, w, 0.5);
      for (int part = 0; part < count; ++part) sum_later.add_(parts[part]);
      EXPECT_TRUE(at::equal(sum_later, sum_few)) << rows << " of " << in << " in " << count;
    }
  }
}

TEST_P(CudaSums, ANormAddsPartsOneAfterTheOtherAndHasTheBitsOfItsSum) {
  for (const int hidden : {64, 1536, 2048, 8192}) {
    const at::Tensor weight = normal({hidden}), x = normal({9, hidden});
    const at::Tensor all = normal({4, 20, hidden}), parts = all.narrow(1, 0, 9);
    for (const int count : {2, 4}) {
      at::Tensor sum = x.clone(), added = x.clone();
      for (int part = 0; part < count; ++part) sum.add_(parts[part]);
      std::vector<at::Tensor> normed;
      for (const bool is_added_before : {true, false}) {
        const at::Tensor& from = is_added_before ? sum : added;
        const at::Tensor& out = normed.emplace_back(at::empty_like(x, GetParam()));
        cuda::kernels()->norm({.x = data<float>(from),
                               .weight = data<float>(weight),
                               .out = data<cuda::Half>(out),
                               .rows = 9,
                               .hidden = hidden,
                               .eps = 1e-6f,
                               .type = half_type_of(out),
                               .parts = data<float>(parts),
                               .part_count = is_added_before ? 0 : count,
                               .part_step = parts.stride(0)},
                              stream());
      }
      EXPECT_TRUE(at::equal(added, sum)) << hidden;
      EXPECT_TRUE(at::equal(normed[0], normed[1])) << hidden;
    }
  }
}

struct AttentionShape {
  int heads, kv_heads, head_dim;
};
constexpr AttentionShape kAttentionShapes[] = {{16, 2, 128}, {4, 2, 32}, {6, 6, 64}, {32, 2, 64}};

// Packed projections of sequences of several lengths, and the views that attention takes.
struct Sequences {
  at::Tensor qkv;  // [T, (heads + 2 kv_heads) D]
  QueryKeyValue parts;
  AttentionBatch attention;
  std::vector<int> offsets;
};

const std::vector<int> kSequenceLengths = {1, 16, 17, 64, 65, 1000, 300, 129};

class CudaAttention : public CudaSums {
 protected:
  Sequences sequences_of(const AttentionShape& shape) const {
    Sequences made;
    made.offsets = {0};
    for (const int length : kSequenceLengths) made.offsets.push_back(made.offsets.back() + length);
    const int columns = shape.heads + 2 * shape.kv_heads;
    made.qkv = halves({made.offsets.back(), columns * shape.head_dim});
    const at::Tensor all = made.qkv.view({-1, columns, shape.head_dim});
    made.parts = {all.narrow(1, 0, shape.heads), all.narrow(1, shape.heads, shape.kv_heads),
                  all.narrow(1, shape.heads + shape.kv_heads, shape.kv_heads)};
    made.attention = {.offsets = ints(made.offsets),
                      .longest = 1000,
                      .scale = 1.0 / std::sqrt(static_cast<double>(shape.head_dim)),
                      .sums = Sums::equal};
    return made;
  }
};
INSTANTIATE_TEST_SUITE_P(Types, CudaAttention, ::testing::Values(at::kBFloat16, at::kHalf));

// Returns [T, heads, D] of one sequence in float64.
at::Tensor attention64(const QueryKeyValue& qkv, double scale) {
  const std::int64_t group = qkv.query.size(1) / qkv.key.size(1);
  const at::Tensor q = wide(qkv.query).transpose(0, 1);
  const at::Tensor k = wide(qkv.key).transpose(0, 1).repeat_interleave(group, 0);
  const at::Tensor v = wide(qkv.value).transpose(0, 1).repeat_interleave(group, 0);
  const at::Tensor scores = q.matmul(k.transpose(1, 2)) * scale;
  const at::Tensor later = at::ones_like(scores[0]).triu(1).to(at::kBool);
  return at::softmax(scores.masked_fill(later, -INFINITY), -1).matmul(v).transpose(0, 1);
}

TEST_P(CudaAttention, InOrderIsThatOfFloat64AndItsBackwardThatOfFlashAttention) {
  for (const AttentionShape& shape : kAttentionShapes) {
    const Sequences some = sequences_of(shape);
    const Attended attended = cuda_attend(some.parts, some.attention);
    for (std::size_t s = 0; s + 1 < some.offsets.size(); ++s) {
      const auto of = [&](const at::Tensor& all) {
        return all.slice(0, some.offsets[s], some.offsets[s + 1]);
      };
      const at::Tensor expected = attention64(
          {of(some.parts.query), of(some.parts.key), of(some.parts.value)}, some.attention.scale);
      EXPECT_LT(difference(of(attended.out), expected), rounding_twice(GetParam()))
          << "head size " << shape.head_dim << ", length " << kSequenceLengths[s];
    }
    AttentionBatch fast = some.attention;
    fast.sums = Sums::fast;
    const Attended flash = cuda_attend(some.parts, fast);
    EXPECT_LT(difference(attended.log_normaliser, flash.log_normaliser), 1e-3);
    const at::Tensor d_out = halves({some.qkv.size(0), shape.heads, shape.head_dim});
    const auto got = cuda_attend_backward(some.parts, attended, d_out, some.attention);
    const auto expected = cuda_attend_backward(some.parts, flash, d_out, fast);
    EXPECT_LT(difference(got.query, expected.query), 2 * rounding_twice(GetParam()));
    EXPECT_LT(difference(got.key, expected.key), 2 * rounding_twice(GetParam()));
    EXPECT_LT(difference(got.value, expected.value), 2 * rounding_twice(GetParam()));
  }
}

// Such batches count as frequent after some hundred calls.
TEST_P(CudaAttention, InOrderWithCudnnsBackwardGivesFlashAttentionsGradients) {
  const AttentionShape shape = {16, 2, 128};
  const std::int64_t length = 256, tokens = 3 * length;
  const at::Tensor all = halves({tokens, shape.heads + 2 * shape.kv_heads, shape.head_dim});
  const QueryKeyValue parts = {all.narrow(1, 0, shape.heads),
                               all.narrow(1, shape.heads, shape.kv_heads),
                               all.narrow(1, shape.heads + shape.kv_heads, shape.kv_heads)};
  AttentionBatch attention = {.offsets = ints({0, 256, 512, 768}),
                              .longest = length,
                              .is_even = true,
                              .scale = 0.1,
                              .sums = Sums::equal};
  Attended attended = cuda_attend(parts, attention);
  const at::Tensor first = attended.out;
  for (int i = 0; i < 320; ++i) attended = cuda_attend(parts, attention);
  EXPECT_TRUE(at::equal(attended.out, first));
  const at::Tensor d_out = halves({tokens, shape.heads, shape.head_dim});
  const auto got = cuda_attend_backward(parts, attended, d_out, attention);
  attention.is_even = false;
  attention.sums = Sums::fast;
  const auto expected =
      cuda_attend_backward(parts, cuda_attend(parts, attention), d_out, attention);
  EXPECT_LT(difference(got.query, expected.query), 2 * rounding_twice(GetParam()));
  EXPECT_LT(difference(got.key, expected.key), 2 * rounding_twice(GetParam()));
  EXPECT_LT(difference(got.value, expected.value), 2 * rounding_twice(GetParam()));
}

TEST_P(CudaAttention, DecodingHasTheBitsOfTheWholeSequence) {
  for (const AttentionShape& shape : kAttentionShapes) {
    const Sequences some = sequences_of(shape);
    const Attended attended = cuda_attend(some.parts, some.attention);
    const int slots = static_cast<int>(kSequenceLengths.size()), pages_per_slot = 16;
    const at::Tensor keys =
        at::full({slots * pages_per_slot, shape.kv_heads, cuda::kPage, shape.head_dim},
                 std::nan(""), some.qkv.options());
    const at::Tensor values = keys.clone();  // NaN in every position that is never written
    const at::Tensor table =
        at::randperm(slots * pages_per_slot, at::kLong).to(at::kInt).view({slots, -1});
    std::vector<int> ends, positions, rows_slots;
    for (int s = 0; s < slots; ++s) {
      const int length = kSequenceLengths[static_cast<std::size_t>(s)];
      const int begin = some.offsets[static_cast<std::size_t>(s)];
      for (int at = 0; at < length; at += cuda::kPage) {
        const int count = std::min(cuda::kPage, length - at);
        const int page = table[s][at / cuda::kPage].item<int>();
        const auto to_page = [&](const at::Tensor& cache, const at::Tensor& rows) {
          cache[page].narrow(1, 0, count).copy_(rows.narrow(0, begin + at, count).transpose(0, 1));
        };
        to_page(keys, some.parts.key), to_page(values, some.parts.value);
      }
      ends.push_back(begin + length - 1);
      positions.push_back(length - 1);
      rows_slots.push_back(s);
    }
    // Once alone and once in many copies, which use different kernels.
    for (const int times : {1, 30}) {
      const at::Tensor last = ints(ends).to(at::kLong).repeat({times}),
                       at_slots = ints(rows_slots).repeat({times}),
                       at_positions = ints(positions).repeat({times}),
                       on_device = table.to(device_);
      const at::Tensor rows = some.qkv.index_select(0, last);
      const at::Tensor out =
          at::full({slots * times, shape.heads, shape.head_dim}, std::nan(""), rows.options());
      cuda::kernels()->decode_in_order({.qkv = data<cuda::Half>(rows),
                                        .row_stride = static_cast<int>(rows.size(1)),
                                        .slots = data<int>(at_slots),
                                        .positions = data<int>(at_positions),
                                        .cache = {data<cuda::Half>(keys), data<cuda::Half>(values),
                                                  data<int>(on_device), pages_per_slot},
                                        .out = data<cuda::Half>(out),
                                        .rows = slots * times,
                                        .heads = shape.heads,
                                        .kv_heads = shape.kv_heads,
                                        .head_dim = shape.head_dim,
                                        .scale = static_cast<float>(some.attention.scale),
                                        .type = half_type_of(rows)},
                                       stream());
      EXPECT_TRUE(at::equal(out, attended.out.index_select(0, last)))
          << "head size " << shape.head_dim << ", off by "
          << difference(out, attended.out.index_select(0, last));
    }
  }
}

TEST_P(CudaSums, AModelTrainsAsWithFastSums) {
  std::vector<std::vector<TokenId>> sequences;
  for (const int length : {300, 40, 300}) {
    Rng rng(1, "sequence", sequences.size());
    auto& sequence = sequences.emplace_back();
    for (int i = 0; i < length; ++i) sequence.push_back(static_cast<TokenId>(rng.below(512)));
  }
  std::vector<at::Tensor> logprobs, gradients;
  for (const Sums sums : {Sums::fast, Sums::equal}) {
    ModelConfig config = narrow_model(Family::qwen2, 64);
    config.initializer_range = 0.05;
    auto model = Transformer::random(config, 4, device_);
    model.set_precision(GetParam() == at::kHalf ? Precision::float16 : Precision::bfloat16);
    model.set_sums(sums);
    const auto batch = pack(sequences, device_);
    const auto now = linear_logprob(model.forward(batch), model.head_weight(), batch.tokens, 1.0);
    now.logprob.sum().backward();
    logprobs.push_back(now.logprob);
    gradients.push_back(model.layers().front().q.grad());
  }
  EXPECT_LT(difference(logprobs[1], logprobs[0]), rounding_twice(GetParam()));
  EXPECT_LT(difference(gradients[1], gradients[0]), 0.1);
}

}  // namespace
}  // namespace tritonsmith::model
