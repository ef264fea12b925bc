// Compares gradients on a GPU with those of the CPU in float32, and tests the optimizer's bfloat16
// copy. Skips without a GPU or without kernels in the build.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "base/rng.h"
#include "model/layers/testing/on_gpu.h"
#include "train/batch/micro_batch.h"
#include "train/optimizer/adamw.h"

namespace tritonsmith::train {
namespace {

using CudaTraining = model::OnGpu<1>;

std::vector<TrainingSequence> sequences() {
  std::vector<TrainingSequence> all;
  for (std::uint64_t i = 0; i < 5; ++i) {
    Rng rng(1, "sequence", i);
    TrainingSequence sequence{.prompt_length = 1 + 7 * i};
    for (std::uint64_t t = 0; t < 20 + 60 * i; ++t)
      sequence.tokens.push_back(static_cast<TokenId>(rng.below(512)));
    all.push_back(sequence);
  }
  return all;
}

struct Pass {
  std::vector<at::Tensor> logprobs;   // for each micro-batch
  std::vector<at::Tensor> gradients;  // for each parameter, float64 on the CPU
};

Pass run(const model::Transformer& model, std::int64_t budget) {
  Pass pass;
  for (const at::Tensor& tensor : model::tensors_of(model.parameters()))
    if (tensor.grad().defined()) tensor.mutable_grad().zero_();
  const auto all = sequences();
  const std::vector<std::size_t> members = {0, 1, 2, 3, 4};
  for (const MicroBatch& batch :
       make_micro_batches(all, members, {.budget = budget}, model.device())) {
    const auto now = forward_tokens(model, batch, 0.9);
    now.logprob.backward(at::ones_like(now.logprob) * 0.01);
    pass.logprobs.push_back(now.logprob.detach().to(at::kCPU));
  }
  for (const at::Tensor& tensor : model::tensors_of(model.parameters()))
    pass.gradients.push_back(model::wide(tensor.grad()));
  return pass;
}

// 16 bits cost digits. Our kernels must lose no more than plain ATen, which rounds more often.
TEST_F(CudaTraining, LogprobsAndGradientsAreAsNearToFloat32AsThoseOfAten) {
  for (const auto family : {model::Family::qwen2, model::Family::qwen3, model::Family::llama}) {
    model::ModelConfig config = model::narrow_model(family);
    config.tie_word_embeddings = family == model::Family::qwen2;
    const auto on_cpu = model::Transformer::random(config, 3);
    auto in_float16 = model::Transformer::random(config, 3, device_);
    auto on_gpu = model::Transformer::random(config, 3, device_);
    on_gpu.set_precision(model::Precision::bfloat16);
    ASSERT_NE(on_gpu.half_weights(), nullptr);
    const FlatParameters flat(model::tensors_of(on_gpu.parameters())),
        other(model::tensors_of(in_float16.parameters()));
    const Pass expected = run(on_cpu, 1000), got = run(on_gpu, 1000), fine = run(in_float16, 1000);
    on_gpu.set_layer_path(model::LayerPath::aten);
    const Pass plain = run(on_gpu, 1000);
    const auto gap = [&](const Pass& pass) {
      return (pass.logprobs[0] - expected.logprobs[0]).abs().mean().item<double>();
    };
    EXPECT_LT(gap(got), 0.03);
    EXPECT_LT(gap(got), gap(plain));
    EXPECT_LT(gap(fine), gap(got) / 4);  // float16 is eight times finer
    for (std::size_t i = 0; i < got.gradients.size(); ++i) {
      const double ours = model::difference(got.gradients[i], expected.gradients[i]);
      EXPECT_LT(ours, 0.05) << on_gpu.parameters()[i].name;
      EXPECT_LT(ours, 1.25 * model::difference(plain.gradients[i], expected.gradients[i]))
          << on_gpu.parameters()[i].name;
      EXPECT_LT(model::difference(fine.gradients[i], expected.gradients[i]), 1.1 * ours)
          << on_gpu.parameters()[i].name;
    }
  }
}

TEST_F(CudaTraining, TheGradientDoesNotDependOnHowItIsComputed) {
  auto model = model::Transformer::random(model::narrow_model(), 3, device_);
  const Pass separate = run(model, 1000);  // each gradient has memory of its own
  const FlatParameters flat(model::tensors_of(model.parameters()));
  const Pass whole = run(model, 1000), again = run(model, 1000), cut = run(model, 100);
  model.set_recompute(model::Recompute::layers);
  const Pass recomputed = run(model, 1000);
  for (std::size_t i = 0; i < whole.gradients.size(); ++i) {
    const std::string& name = model.parameters()[i].name;
    EXPECT_LT(model::difference(recomputed.gradients[i], whole.gradients[i]), 1e-3) << name;
    EXPECT_LT(model::difference(again.gradients[i], whole.gradients[i]), 1e-3) << name;
    EXPECT_LT(model::difference(separate.gradients[i], whole.gradients[i]), 1e-3) << name;
    EXPECT_LT(model::difference(cut.gradients[i], whole.gradients[i]), 0.01) << name;
  }
}

TEST_F(CudaTraining, TheOptimizerWritesTheCopyThatTheLayersRead) {
  auto model = model::Transformer::random(model::narrow_model(), 3, device_);
  FlatParameters flat(model::tensors_of(model.parameters()));
  auto state = AdamWState::zeros_like(flat);
  run(model, 1000);
  const at::Tensor before = model.half_weights()->flat().clone();
  adamw_update(flat, state, {}, {.learning_rate = 0.01, .half = model.half_weights()->flat()});
  const at::Tensor after = model.half_weights()->flat();
  EXPECT_FALSE(at::equal(before, after));
  EXPECT_EQ(after.scalar_type(), at::kHalf);
  EXPECT_TRUE(at::equal(after, flat.values().to(at::kHalf)));
  {
    const at::NoGradGuard no_grad;  // something else than the optimizer changes the weights
    model.layers()[1].down.mul_(2);
  }
  EXPECT_TRUE(at::equal(model.half_weights()->flat(), flat.values().to(at::kHalf)));
}

}  // namespace
}  // namespace tritonsmith::train
