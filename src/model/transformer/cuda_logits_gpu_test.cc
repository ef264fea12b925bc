// Compares logits of whole models by our CUDA kernels with float32 on the CPU, element by element.
// The limit for the error of 16 bits comes from plain ATen in bfloat16, whose residual stream is
// rounded too. Skips without a GPU or without kernels in the build.
#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <gtest/gtest.h>

#include "base/rng.h"
#include "model/layers/testing/on_gpu.h"
#include "model/transformer/transformer.h"

namespace tritonsmith::model {
namespace {

using CudaLogits = OnGpuBy<Family, 1>;
INSTANTIATE_TEST_SUITE_P(Families, CudaLogits,
                         ::testing::Values(Family::qwen2, Family::qwen3, Family::llama),
                         [](const auto& each) { return std::string(name_of(each.param)); });

PackedBatch texts_on(c10::Device device) {
  std::vector<std::vector<TokenId>> texts;
  for (const std::size_t length : {300, 1, 65}) {
    Rng rng(1, "text", length);
    auto& text = texts.emplace_back();
    while (text.size() < length) text.push_back(static_cast<TokenId>(rng.below(512)));
  }
  return pack(texts, device);
}

// Returns [T, V] float64.
at::Tensor logits_of(const Transformer& model) {
  const at::NoGradGuard no_grad;
  return wide(model.forward(texts_on(model.device()))).matmul(wide(model.head_weight()).t());
}

// Statistics of the logits' errors, in units of the spread of the logits.
struct Wrong {
  double root_mean_square = 0, most = 0;
};
Wrong wrong(const at::Tensor& logits, const at::Tensor& exact) {
  const at::Tensor each = (logits - exact).abs() / exact.std();
  return {each.square().mean().sqrt().item<double>(), each.max().item<double>()};
}

TEST_P(CudaLogits, EachIsWithinItsTypesErrorOfFloat32) {
  ModelConfig config = narrow_model(GetParam());
  if (config.family == Family::llama)
    config.rope_scaling = {.factor = 8, .original_max_position_embeddings = 64};
  const at::Tensor exact = logits_of(Transformer::random(config, 3));
  auto plain = Transformer::random(config, 3, device_);
  plain.set_layer_path(LayerPath::aten);
  const Wrong aten = wrong(logits_of(plain), exact);
  ASSERT_LT(aten.root_mean_square,
            0.05);  // `transformers` in bfloat16 on such models: 0.02 to 0.03
  for (const Precision precision : {Precision::bfloat16, Precision::float16})
    for (const Sums sums : {Sums::fast, Sums::equal}) {
      auto model = Transformer::random(config, 3, device_);
      model.set_precision(precision);
      model.set_sums(sums);
      const Wrong ours = wrong(logits_of(model), exact);
      const double share = precision == Precision::bfloat16 ? 1.0 : 0.6;
      // NaN never passes this limit.
      EXPECT_LT(ours.root_mean_square, share * 1.1 * aten.root_mean_square) << name_of(precision);
      EXPECT_LT(ours.most, share * 1.5 * aten.most) << name_of(precision);
      EXPECT_GT(ours.root_mean_square, 0.0) << "nothing was rounded: was it computed here?";
    }
}

}  // namespace
}  // namespace tritonsmith::model
