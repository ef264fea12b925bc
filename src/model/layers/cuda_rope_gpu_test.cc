// RoPE on a GPU in both directions, with and without the norm of heads (Qwen3), against float64. It
// covers heads of zeros, large heads, heads far below the norm's epsilon, positions that restart
// and distant ones, and masked tokens. Skips without a GPU or without kernels in the build.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>

#include "model/layers/cuda_layer.h"
#include "model/layers/testing/exactness.h"

namespace tritonsmith::model {
namespace {

class CudaRope : public OnGpuByType {};
INSTANTIATE_TEST_SUITE_P(Types, CudaRope, ::testing::Values(at::kBFloat16, at::kHalf));

// Packed projections of several sequences, most from position 0 on and one at distant positions.
struct Projections {
  std::int64_t heads = 4, kv_heads = 2, head_dim = 0;
  at::Tensor qkv;             // [T, (heads + 2 kv_heads) D]
  at::Tensor positions;       // [T] int32
  RopeTable rope;             // float32
  at::Tensor q_norm, k_norm;  // [D], undefined: no norm
  double eps = 1e-6;

  std::int64_t tokens() const { return qkv.size(0); }
  std::int64_t columns() const { return heads + 2 * kv_heads; }
  at::Tensor by_head(const at::Tensor& rows) const {
    return rows.view({tokens(), columns(), head_dim});
  }
};

enum class HeadNorm { none, each };

// Kinds of heads: usual values, zeros, large values, values that are small against the norm's
// epsilon.
Projections projections(std::int64_t head_dim, HeadNorm norm, at::ScalarType type,
                        c10::Device device) {
  Projections made{.head_dim = head_dim};
  std::vector<at::Tensor> positions;
  for (const auto& [begin, count] : {std::pair{0, 1}, std::pair{0, 700}, std::pair{0, 1},
                                     std::pair{32000, 600}, std::pair{0, 37}})
    positions.push_back(at::arange(begin, begin + count, at::kInt));
  made.positions = at::cat(positions).to(device);
  const std::int64_t tokens = made.positions.size(0);
  const at::Tensor sizes = at::tensor(std::vector<double>{1, 0, 3e3, 1e-4, 1}, at::kDouble)
                               .repeat({tokens * made.columns() / 5 + 1})
                               .narrow(0, 0, tokens * made.columns());
  made.qkv = (at::randn({tokens * made.columns(), head_dim}, at::kDouble) * sizes.unsqueeze(1))
                 .view({tokens, -1})
                 .to(type)
                 .to(device);
  ModelConfig config;
  config.head_dim = head_dim;
  made.rope = make_rope_table(config, 32768, at::TensorOptions(at::kFloat).device(device));
  if (norm == HeadNorm::none) return made;
  made.q_norm = at::randn({head_dim}, at::kDouble).to(at::kFloat).to(device);
  made.k_norm = at::randn({head_dim}, at::kDouble).to(at::kFloat).to(device);
  return made;
}

// The float64 results, and the weights in which they are differentiated.
struct ExactRotations {
  at::Tensor qkv, q_norm, k_norm;
  at::Tensor rotated;  // [T, heads + 2 kv_heads, D]
};
ExactRotations rotated_in_float64(const Projections& of) {
  const auto leaf = [](const at::Tensor& tensor) {
    return tensor.defined() ? wide(tensor).requires_grad_(true) : at::Tensor();
  };
  ExactRotations exact{.qkv = leaf(of.qkv), .q_norm = leaf(of.q_norm), .k_norm = leaf(of.k_norm)};
  const at::Tensor at_rows = of.positions.to(at::kCPU, at::kLong);
  const at::Tensor cos = wide(of.rope.cos).index_select(0, at_rows).unsqueeze(1),
                   sin = wide(of.rope.sin).index_select(0, at_rows).unsqueeze(1);
  const auto rotate = [&](const at::Tensor& heads, const at::Tensor& weight) {
    const at::Tensor normed = weight.defined() ? aten_rms_norm(heads, weight, of.eps) : heads;
    const auto halves = normed.chunk(2, -1);
    return at::cat({halves[0] * cos - halves[1] * sin, halves[1] * cos + halves[0] * sin}, -1);
  };
  const at::Tensor all = of.by_head(exact.qkv);
  exact.rotated = at::cat({rotate(all.narrow(1, 0, of.heads), exact.q_norm),
                           rotate(all.narrow(1, of.heads, of.kv_heads), exact.k_norm),
                           all.narrow(1, of.heads + of.kv_heads, of.kv_heads)},
                          1);
  return exact;
}

void rotate_on_gpu(const Projections& of, const at::Tensor& qkv, const at::Tensor& slots,
                   const cuda::PagedCache& cache) {
  cuda::kernels()->rope({.qkv = data<cuda::Half>(qkv),
                         .cos = data(of.rope.cos),
                         .sin = data(of.rope.sin),
                         .positions = data<int>(of.positions),
                         .q_norm = data(of.q_norm),
                         .k_norm = data(of.k_norm),
                         .slots = data<int>(slots),
                         .cache = cache,
                         .tokens = of.tokens(),
                         .heads = static_cast<int>(of.heads),
                         .kv_heads = static_cast<int>(of.kv_heads),
                         .head_dim = static_cast<int>(of.head_dim),
                         .eps = static_cast<float>(of.eps),
                         .type = half_type_of(qkv)},
                        current_stream(qkv.device()));
}

// The rounding, plus the float32 error of a difference a hundredth as large as its operands.
double rounding_of_rotated(at::ScalarType type) { return 1.25 * rounding(type); }

TEST_P(CudaRope, RotationWithAndWithoutNormedHeadsIsThatOfFloat64) {
  for (const std::int64_t head_dim : {32, 64, 128, 256})
    for (const HeadNorm norm : {HeadNorm::none, HeadNorm::each}) {
      const Projections of = projections(head_dim, norm, GetParam(), device_);
      const at::Tensor got = of.qkv.clone();
      rotate_on_gpu(of, got, {}, {});
      const ExactRotations expected = rotated_in_float64(of);
      EXPECT_LT(worst_in_row(of.by_head(got), expected.rotated.detach()),
                rounding_of_rotated(GetParam()))
          << head_dim;
      const auto values = [&](const at::Tensor& all) {
        return of.by_head(all).narrow(1, of.heads + of.kv_heads, of.kv_heads);
      };
      EXPECT_TRUE(at::equal(values(got), values(of.qkv)));
    }
}

// Keys and values of masked tokens (slot -1) are not stored. Those of other tokens are stored where
// the page table says.
TEST_P(CudaRope, MaskedTokensLeaveTheCacheAsItWas) {
  Projections of = projections(64, HeadNorm::each, GetParam(), device_);
  of.qkv = of.qkv.narrow(0, 0, 200).clone();
  of.positions = at::arange(200, at::kInt).to(device_);
  const std::int64_t pages = 6;
  const at::Tensor keys = at::full({pages, of.kv_heads, cuda::kPage, 64}, std::nan(""),
                                   of.qkv.options()),
                   values = keys.clone();
  const at::Tensor table =
      at::tensor(std::vector<int>{0, 0, 0, 0, 5, 2, 3, 1}, at::kInt).view({2, 4}).to(device_);
  const at::Tensor slots = at::ones({200}, of.positions.options());
  slots.slice(0, 3, 200, 5).fill_(-1);
  const at::Tensor expected_keys = keys.to(at::kCPU), expected_values = expected_keys.clone();
  const at::Tensor got = of.qkv.clone();
  rotate_on_gpu(of, got, slots,
                {data<cuda::Half>(keys), data<cuda::Half>(values), data<int>(table), 4});
  const at::Tensor all = of.by_head(got).to(at::kCPU), at_slots = slots.to(at::kCPU);
  const at::Tensor pages_of = table.to(at::kCPU)[1];
  for (std::int64_t t = 0; t < 200; ++t) {
    if (at_slots[t].item<int>() < 0) continue;
    const auto page = pages_of[t / cuda::kPage].item<std::int64_t>(), row = t % cuda::kPage;
    expected_keys[page].select(1, row).copy_(all[t].narrow(0, of.heads, of.kv_heads));
    expected_values[page].select(1, row).copy_(
        all[t].narrow(0, of.heads + of.kv_heads, of.kv_heads));
  }
  const auto bits = [](const at::Tensor& t) { return t.to(at::kCPU).view(at::kShort); };
  EXPECT_TRUE(at::equal(bits(keys), bits(expected_keys)));
  EXPECT_TRUE(at::equal(bits(values), bits(expected_values)));
}

TEST_P(CudaRope, RotationsGradientWithAndWithoutNormedHeadsIsThatOfFloat64) {
  for (const std::int64_t head_dim : {32, 64, 128, 256})
    for (const HeadNorm norm : {HeadNorm::none, HeadNorm::each}) {
      const Projections of = projections(head_dim, norm, GetParam(), device_);
      // Tokens with a usual, zero (masked), tiny or huge gradient.
      const at::Tensor sizes = at::tensor(std::vector<double>{1, 0, 1e-6, 1e4}, at::kDouble)
                                   .repeat({of.tokens() / 4 + 1})
                                   .narrow(0, 0, of.tokens());
      const at::Tensor d_rotated =
          (at::randn({of.tokens(), of.columns(), head_dim}, at::kDouble) * sizes.view({-1, 1, 1}))
              .to(at::kBFloat16)
              .to(device_);
      const auto heads = [&](std::int64_t begin, std::int64_t count) {
        return d_rotated.narrow(1, begin, count).contiguous();
      };
      const at::Tensor d_query = heads(0, of.heads), d_key = heads(of.heads, of.kv_heads),
                       d_value = heads(of.heads + of.kv_heads, of.kv_heads);
      const bool is_normed = norm == HeadNorm::each;
      const auto floats = of.qkv.options().dtype(at::kFloat);
      const at::Tensor d_qkv = at::empty_like(of.qkv, at::kBFloat16),
                       partials = at::empty({cuda::kRopeParts, 2, head_dim}, floats),
                       d_q_norm = at::ones({head_dim}, floats), d_k_norm = d_q_norm.clone();
      cuda::kernels()->rope_backward({.d_query = data<cuda::Bf16>(d_query),
                                      .d_key = data<cuda::Bf16>(d_key),
                                      .d_value = data<cuda::Bf16>(d_value),
                                      .d_qkv = data<cuda::Bf16>(d_qkv),
                                      .cos = data(of.rope.cos),
                                      .sin = data(of.rope.sin),
                                      .positions = data<int>(of.positions),
                                      .raw = is_normed ? data<cuda::Half>(of.qkv) : nullptr,
                                      .q_norm = data(of.q_norm),
                                      .k_norm = data(of.k_norm),
                                      .partials = data(partials),
                                      .d_q_norm = data(d_q_norm),
                                      .d_k_norm = data(d_k_norm),
                                      .tokens = of.tokens(),
                                      .heads = static_cast<int>(of.heads),
                                      .kv_heads = static_cast<int>(of.kv_heads),
                                      .head_dim = static_cast<int>(head_dim),
                                      .eps = static_cast<float>(of.eps),
                                      .type = half_type_of(of.qkv)},
                                     stream());
      const ExactRotations exact = rotated_in_float64(of);
      exact.rotated.backward(wide(d_rotated));
      EXPECT_LT(worst_in_row(of.by_head(d_qkv), of.by_head(exact.qkv.grad())),
                rounding_of_rotated(at::kBFloat16))
          << head_dim;
      if (!is_normed) continue;
      EXPECT_LT(difference(d_q_norm, exact.q_norm.grad() + 1), kSumsOfRows) << head_dim;
      EXPECT_LT(difference(d_k_norm, exact.k_norm.grad() + 1), kSumsOfRows) << head_dim;
    }
}

}  // namespace
}  // namespace tritonsmith::model
