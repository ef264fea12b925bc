// The kernels of decoding: RoPE into a paged cache, attention over it, and sampling. Skips without
// a GPU or without kernels in the build.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>

#include "model/layers/cuda_layer.h"
#include "model/layers/testing/on_gpu.h"

namespace tritonsmith::model {
namespace {

using CudaDecode = OnGpu<2>;

struct DecodeShape {
  int heads, kv_heads, head_dim;
};

class CudaDecodeOfType : public CudaDecode, public ::testing::WithParamInterface<at::ScalarType> {};
INSTANTIATE_TEST_SUITE_P(Types, CudaDecodeOfType, ::testing::Values(at::kBFloat16, at::kHalf));

TEST_P(CudaDecodeOfType, AttendsOverThePagedCacheAsFloat64Does) {
  const at::ScalarType type = GetParam();
  const double rounding = rounding_of_norm(type);
  const std::vector<int> lengths = {1, 16, 17, 64, 65, 1000, 300, 15};
  const int pages_per_slot = 16, slots = 9;
  for (const DecodeShape shape : {DecodeShape{16, 2, 128}, DecodeShape{4, 2, 32},
                                  DecodeShape{6, 6, 64}, DecodeShape{32, 2, 64}}) {
    const int width = (shape.heads + 2 * shape.kv_heads) * shape.head_dim;
    const at::Tensor keys =
        at::full({slots * pages_per_slot, shape.kv_heads, cuda::kPage, shape.head_dim},
                 std::nan(""), at::TensorOptions(type).device(device_));
    const at::Tensor values = keys.clone();  // NaN in every position that is never written
    const at::Tensor table =
        at::randperm(slots * pages_per_slot, at::kLong).to(at::kInt).view({slots, -1}).to(device_);
    const cuda::PagedCache cache = {data<cuda::Half>(keys), data<cuda::Half>(values),
                                    data<int>(table), pages_per_slot};
    ModelConfig config;
    config.head_dim = shape.head_dim;
    const RopeTable rope =
        make_rope_table(config, 1024, at::TensorOptions(at::kFloat).device(device_));
    std::vector<at::Tensor> expected, queries;
    std::vector<int> positions, rows_slots;
    for (std::size_t s = 0; s < lengths.size(); ++s) {
      const int length = lengths[s], slot = static_cast<int>(s) + 1;
      const at::Tensor qkv = normal({length, width}, type), raw = wide(qkv);
      const at::Tensor at_position = at::arange(length, at::kInt).to(device_);
      const at::Tensor in_slot = at::full_like(at_position, slot);
      cuda::kernels()->rope({.qkv = data<cuda::Half>(qkv),
                             .cos = data<float>(rope.cos),
                             .sin = data<float>(rope.sin),
                             .positions = data<int>(at_position),
                             .slots = data<int>(in_slot),
                             .cache = cache,
                             .tokens = length,
                             .heads = shape.heads,
                             .kv_heads = shape.kv_heads,
                             .head_dim = shape.head_dim,
                             .type = half_type_of(qkv)},
                            stream());
      const at::Tensor all = wide(qkv).view({length, -1, shape.head_dim});
      const at::Tensor before = raw.view({length, -1, shape.head_dim});
      const int rotated = shape.heads + shape.kv_heads, half = shape.head_dim / 2;
      const at::Tensor c = wide(rope.cos).narrow(0, 0, length).unsqueeze(1),
                       n = wide(rope.sin).narrow(0, 0, length).unsqueeze(1);
      const at::Tensor low = before.narrow(1, 0, rotated).narrow(2, 0, half),
                       high = before.narrow(1, 0, rotated).narrow(2, half, half);
      EXPECT_LT(difference(all.narrow(1, 0, rotated),
                           at::cat({low * c - high * n, high * c + low * n}, 2)),
                rounding);
      EXPECT_TRUE(at::equal(all.narrow(1, rotated, shape.kv_heads),
                            before.narrow(1, rotated, shape.kv_heads)));
      const int group = shape.heads / shape.kv_heads;
      const at::Tensor q =
          all[length - 1].narrow(0, 0, shape.heads).view({shape.kv_heads, group, -1});
      const at::Tensor k = all.narrow(1, shape.heads, shape.kv_heads).transpose(0, 1);
      const at::Tensor v = all.narrow(1, rotated, shape.kv_heads).transpose(0, 1);
      const at::Tensor p =
          at::softmax(q.matmul(k.transpose(1, 2)) / std::sqrt(double(shape.head_dim)), -1);
      expected.push_back(p.matmul(v).reshape({shape.heads * shape.head_dim}));
      queries.push_back(qkv[length - 1]);
      positions.push_back(length - 1);
      rows_slots.push_back(slot);
    }
    queries.push_back(queries.front());  // padding
    positions.push_back(0);
    rows_slots.push_back(-1);
    const at::Tensor packed = at::stack(queries), at_slots = ints(rows_slots),
                     at_positions = ints(positions);
    const int rows = static_cast<int>(rows_slots.size());
    for (const int splits : {1, 3, 8}) {
      const auto floats = packed.options().dtype(at::kFloat);
      const at::Tensor out =
          at::full({rows, shape.heads * shape.head_dim}, std::nan(""), packed.options());
      const at::Tensor parts =
          at::full({rows, shape.heads, splits, shape.head_dim}, std::nan(""), floats);
      const at::Tensor norms = at::full({rows, shape.heads, splits}, std::nan(""), floats);
      cuda::kernels()->decode({.qkv = data<cuda::Half>(packed),
                               .row_stride = width,
                               .slots = data<int>(at_slots),
                               .positions = data<int>(at_positions),
                               .cache = cache,
                               .out = data<cuda::Half>(out),
                               .part_out = data<float>(parts),
                               .part_norm = data<float>(norms),
                               .rows = rows,
                               .heads = shape.heads,
                               .kv_heads = shape.kv_heads,
                               .head_dim = shape.head_dim,
                               .splits = splits,
                               .scale = 1.0f / std::sqrt(static_cast<float>(shape.head_dim)),
                               .type = half_type_of(packed)},
                              stream());
      for (std::size_t s = 0; s < expected.size(); ++s)
        EXPECT_LT(difference(out[static_cast<std::int64_t>(s)], expected[s]), 2 * rounding)
            << "length " << lengths[s] << ", " << splits << " splits, head size " << shape.head_dim;
    }
  }
}

// Slots' sampling parameters and state on the device.
struct SlotTensors {
  at::Tensor token, position, drawn, seed, temperature, top_p, top_k;
  cuda::SlotArrays arrays() const {
    return {.token = data<int>(token),
            .position = data<int>(position),
            .drawn = data<int>(drawn),
            .seed = data<std::uint64_t>(seed),
            .temperature = data<float>(temperature),
            .top_p = data<float>(top_p),
            .top_k = data<int>(top_k)};
  }
};

struct Drawn {
  at::Tensor tokens, logprobs;  // on the CPU
};

class Sampling : public CudaDecode {
 protected:
  // Draws once for each of `rows` slots with seeds 0, 1, 2, ... from the same logits.
  Drawn draw(const at::Tensor& logits, int rows, double temperature, double top_p,
             int top_k) const {
    const auto filled = [&](double value, at::ScalarType type) {
      return at::full({rows}, value, at::TensorOptions(type).device(device_));
    };
    const SlotTensors slots = {.token = filled(0, at::kInt),
                               .position = filled(4, at::kInt),
                               .drawn = filled(2, at::kInt),
                               .seed = at::arange(rows, at::kLong).to(device_),
                               .temperature = filled(temperature, at::kFloat),
                               .top_p = filled(top_p, at::kFloat),
                               .top_k = filled(top_k, at::kInt)};
    const at::Tensor row = filled(0, at::kInt), slot = at::arange(rows, at::kInt).to(device_);
    const at::Tensor tokens = filled(-7, at::kInt), logprobs = filled(9, at::kFloat);
    cuda::kernels()->sample({.logits = data<float>(logits),
                             .logits_row = data<int>(row),
                             .slots = data<int>(slot),
                             .arrays = slots.arrays(),
                             .tokens = data<int>(tokens),
                             .logprobs = data<float>(logprobs),
                             .rows = rows,
                             .vocabulary = static_cast<int>(logits.numel())},
                            stream());
    EXPECT_TRUE(at::equal(slots.token, tokens));
    EXPECT_TRUE(at::equal(slots.position, filled(5, at::kInt)));
    EXPECT_TRUE(at::equal(slots.drawn, filled(3, at::kInt)));
    return {tokens.to(at::kCPU), logprobs.to(at::kCPU)};
  }
  at::Tensor frequencies(const at::Tensor& logits, double temperature, double top_p,
                         int top_k) const {
    constexpr int kDraws = 20000;
    const Drawn drawn = draw(logits, kDraws, temperature, top_p, top_k);
    return at::bincount(drawn.tokens.to(at::kLong), {}, logits.numel()).to(at::kDouble) / kDraws;
  }
};

TEST_F(Sampling, DrawsTokensAsOftenAsTheyAreProbable) {
  const at::Tensor logits = 2 * normal({41}, at::kFloat);
  for (const double temperature : {0.7, 1.0, 3.0}) {
    const at::Tensor expected = at::softmax(wide(logits) / temperature, 0);
    const at::Tensor got = frequencies(logits, temperature, 1.0, 0);
    EXPECT_LT((got - expected).abs().max().item<double>(), 0.015);
    const Drawn drawn = draw(logits, 50, temperature, 1.0, 0);
    EXPECT_LT((drawn.logprobs.to(at::kDouble) -
               expected.log().index_select(0, drawn.tokens.to(at::kLong)))
                  .abs()
                  .max()
                  .item<double>(),
              1e-5);
    EXPECT_TRUE(at::equal(drawn.tokens, draw(logits, 50, temperature, 1.0, 0).tokens));
  }
}

TEST_F(Sampling, TopKAndTopPKeepTheLikeliest) {
  for (const std::int64_t vocabulary : {41, 5000}) {
    const at::Tensor logits = 3 * normal({vocabulary}, at::kFloat);
    const at::Tensor p = at::softmax(wide(logits), 0);
    const auto [sorted, order] = p.sort(0, /*descending=*/true);
    const auto expect_first = [&](const at::Tensor& got, std::int64_t count) {
      const at::Tensor kept = order.narrow(0, 0, count);
      const at::Tensor expected = p.index_select(0, kept) / p.index_select(0, kept).sum();
      EXPECT_NEAR(got.index_select(0, kept).sum().item<double>(), 1.0, 1e-9) << count;
      EXPECT_LT((got.index_select(0, kept) - expected).abs().max().item<double>(), 0.015) << count;
    };
    expect_first(frequencies(logits, 1.0, 1.0, 3), 3);
    expect_first(frequencies(logits, 1.0, 1.0, 1), 1);
    expect_first(frequencies(logits, 1.0, 1e-6, 0), 1);
    for (const double top_p : {0.3, 0.7, 0.95}) {
      const auto needed = (sorted.cumsum(0) < top_p).sum().item<std::int64_t>() + 1;
      expect_first(frequencies(logits, 1.0, top_p, 0), needed);
    }
    const auto of_five = (sorted.narrow(0, 0, 5).cumsum(0) / sorted.narrow(0, 0, 5).sum() < 0.6)
                             .sum()
                             .item<std::int64_t>() +
                         1;
    expect_first(frequencies(logits, 1.0, 0.6, 5), of_five);
  }
}

TEST_F(Sampling, GreedyTakesTheLowestOfTheLikeliestAndDamageIsNoticed) {
  at::Tensor logits = normal({3000}, at::kFloat);
  logits[700] = 50;
  logits[20] = 50;
  EXPECT_EQ(draw(logits, 3, 0.0, 1.0, 0).tokens[1].item<int>(), 20);
  logits[5] = std::nan("");
  EXPECT_EQ(draw(logits, 3, 1.0, 1.0, 0).tokens[2].item<int>(), -1);
}

}  // namespace
}  // namespace tritonsmith::model
