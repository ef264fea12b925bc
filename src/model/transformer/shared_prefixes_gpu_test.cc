// Sequences with shared prefixes on a GPU, compared with the same sequences one by one. Skips
// without a GPU or without kernels in the build.
#include <ATen/core/grad_mode.h>
#include <gtest/gtest.h>

#include <cmath>

#include "model/layers/cuda_attention.h"
#include "model/layers/cuda_layer.h"
#include "model/layers/testing/on_gpu.h"
#include "model/transformer/testing/twice.h"
#include "model/transformer/transformer.h"

namespace tritonsmith::model {
namespace {

// Two groups, one of which begins like the other, and single sequences. Shared prefixes end
// within a tile of attention and at its end.
const std::vector<SharingPart>& sharing_parts() {
  static const std::vector<SharingPart> all = {
      {0, 0, 400},   {0, 255, 80}, {0, 255, 1},   {0, 255, 300}, {0, 0, 77},
      {0, 128, 500}, {5, 600, 33}, {5, 600, 129}, {0, 0, 1},     {0, 64, 64}};
  return all;
}

using SharedOnGpu = OnGpuBy<Precision, 3>;
INSTANTIATE_TEST_SUITE_P(Types, SharedOnGpu,
                         ::testing::Values(Precision::bfloat16, Precision::float16));

// Packed projections of a batch, and the arguments of its attention.
struct BatchAttention {
  QueryKeyValue parts;
  std::shared_ptr<const CudaBatch> batch;
  AttentionBatch attention;
};

BatchAttention attention_of(const PackedBatch& batch, const at::Tensor& qkv, Sums sums) {
  const std::int64_t heads = 4, key_heads = 2;
  BatchAttention made;
  made.parts = {qkv.narrow(1, 0, heads), qkv.narrow(1, heads, key_heads),
                qkv.narrow(1, heads + key_heads, key_heads)};
  made.batch = make_cuda_batch(batch, {}, sums);
  made.attention = {.offsets = made.batch->offsets,
                    .longest = made.batch->longest,
                    .scale = 1.0 / std::sqrt(static_cast<double>(qkv.size(2))),
                    .sums = sums,
                    .shared = made.batch->shared ? &*made.batch->shared : nullptr};
  return made;
}

TEST_P(SharedOnGpu, AttentionBothWaysIsThatOfWholeSequences) {
  const Twice both = twice(sharing_parts(), 512, device_);
  for (const std::int64_t head_dim : {32, 64, 128})
    for (const Sums sums : {Sums::fast, Sums::equal}) {
      const at::ScalarType type = type_of(GetParam());
      const at::Tensor compact = normal({both.shared.length(), 8, head_dim}, type);
      // For whole sequences: the row of the shared batch that equals each of their rows.
      const at::Tensor uses = at::tensor(shared_keys(both.shared).rows, at::kLong).to(device_);
      const BatchAttention shared = attention_of(both.shared, compact, sums);
      const BatchAttention whole = attention_of(both.whole, compact.index_select(0, uses), sums);
      const Attended got = cuda_attend(shared.parts, shared.attention);
      const Attended expected = cuda_attend(whole.parts, whole.attention);
      const at::Tensor out = expected.out.index_select(0, both.rows);
      if (sums == Sums::equal) {
        EXPECT_TRUE(at::equal(got.out, out)) << "head size " << head_dim;
      }
      EXPECT_LT(difference(got.out, out), 2 * rounding_of_norm(type)) << "head size " << head_dim;
      EXPECT_LT(difference(got.log_normaliser, expected.log_normaliser.index_select(1, both.rows)),
                1e-3);
      // The gradient of those rows only.
      const auto as_bfloat16 = [](const QueryKeyValue& all) {
        const auto to = [](const at::Tensor& t) { return t.to(at::kBFloat16); };
        return QueryKeyValue{to(all.query), to(all.key), to(all.value)};
      };
      const at::Tensor d_got = at::randn_like(got.out.to(at::kBFloat16));
      const at::Tensor d_whole = at::zeros_like(expected.out.to(at::kBFloat16));
      d_whole.index_copy_(0, both.rows, d_got);
      const auto d_shared =
          cuda_attend_backward(as_bfloat16(shared.parts), got, d_got, shared.attention);
      const auto d_expected =
          cuda_attend_backward(as_bfloat16(whole.parts), expected, d_whole, whole.attention);
      const auto summed = [&](const at::Tensor& gradient) {
        at::Tensor sum = at::zeros({both.shared.length(), gradient.size(1), head_dim}, at::kDouble);
        return sum.index_add_(0, uses.to(at::kCPU), wide(gradient));
      };
      EXPECT_LT(difference(d_shared.query, d_expected.query.index_select(0, both.rows)), 0.016);
      EXPECT_LT(difference(d_shared.key, summed(d_expected.key)), 0.016);
      EXPECT_LT(difference(d_shared.value, summed(d_expected.value)), 0.016);
    }
}

// Returns hidden states of those rows, and the gradients of a loss that weighs each of them
// differently.
std::vector<at::Tensor> states_and_gradients(const Transformer& model, const PackedBatch& batch,
                                             const at::Tensor& rows) {
  for (const auto& each : model.parameters()) gradient_of(each.tensor).zero_();
  at::Tensor hidden = model.forward(batch);
  if (rows.defined()) hidden = hidden.index_select(0, rows);
  const auto weights = at::sin(at::arange(hidden.numel(), at::kDouble)) * 0.01;
  hidden.backward(weights.view(hidden.sizes()).to(hidden.device(), hidden.scalar_type()));
  std::vector<at::Tensor> results = {wide(hidden)};
  for (const auto& each : model.parameters()) results.push_back(wide(each.tensor.grad()));
  return results;
}

TEST_P(SharedOnGpu, StatesAndGradientsAreAsNearToFloat32AsThoseOfWholeSequences) {
  const Twice both = twice(sharing_parts(), 512, device_),
              on_cpu = twice(sharing_parts(), 512, c10::kCPU);
  for (const Family family : {Family::qwen2, Family::qwen3, Family::llama}) {
    const auto exact = states_and_gradients(Transformer::random(narrow_model(family), 3),
                                            on_cpu.whole, on_cpu.rows);
    for (const Sums sums : {Sums::fast, Sums::equal})
      for (const Recompute recompute : {Recompute::nothing, Recompute::layers}) {
        auto model = Transformer::random(narrow_model(family), 3, device_);
        model.set_precision(GetParam());
        model.set_sums(sums);
        model.set_recompute(recompute);
        const auto whole = states_and_gradients(model, both.whole, both.rows);
        const auto shared = states_and_gradients(model, both.shared, {});
        if (sums == Sums::equal) {
          EXPECT_TRUE(at::equal(shared[0], whole[0])) << name_of(family);
        }
        for (std::size_t i = 0; i < exact.size(); ++i) {
          const std::string name = i == 0 ? "states" : model.parameters()[i - 1].name;
          EXPECT_LT(difference(shared[i], exact[i]), 1.5 * difference(whole[i], exact[i]) + 1e-3)
              << name << " of " << name_of(family);
        }
      }
  }
}

TEST_P(SharedOnGpu, AtenComputesTheSame) {
  const Twice both = twice(sharing_parts(), 512, device_);
  auto model = Transformer::random(narrow_model(Family::qwen2), 3, device_);
  model.set_layer_path(LayerPath::aten);
  const auto whole = states_and_gradients(model, both.whole, both.rows),
             shared = states_and_gradients(model, both.shared, {});
  for (std::size_t i = 0; i < whole.size(); ++i)
    EXPECT_LT(difference(shared[i], whole[i]), 0.1) << i;
}

}  // namespace
}  // namespace tritonsmith::model
