#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <ATen/core/grad_mode.h>
#include <gtest/gtest.h>

#include <limits>

#include "model/layers/linear_logprob.h"
#include "model/transformer/testing/gradients.h"
#include "model/transformer/transformer.h"

namespace tritonsmith::model {
namespace {

// Sizes that are no multiples of a vector or a block.
ModelConfig odd() {
  return {.vocab_size = 101,
          .hidden_size = 42,
          .intermediate_size = 75,
          .num_hidden_layers = 2,
          .num_attention_heads = 6,
          .num_key_value_heads = 2,
          .head_dim = 10,
          .initializer_range = 0.3};
}

Transformer double_model(const ModelConfig& config) {
  const Transformer start = Transformer::random(config, 5);
  Transformer model(config, c10::kCPU, c10::kDouble);
  const at::NoGradGuard no_grad;
  at::manual_seed(1);
  for (std::size_t i = 0; i < model.parameters().size(); ++i) {
    const at::Tensor& tensor = model.parameters()[i].tensor;
    tensor.copy_(start.parameters()[i].tensor);
    if (tensor.dim() == 1) tensor.add_(at::randn_like(tensor) * 0.2);  // biases and norms too
  }
  return model;
}

PackedBatch batch_of(const std::vector<std::int64_t>& lengths, std::int64_t vocabulary) {
  std::vector<std::vector<TokenId>> sequences;
  TokenId next = 1;
  for (const std::int64_t length : lengths) {
    auto& sequence = sequences.emplace_back();
    for (std::int64_t i = 0; i < length; ++i) {
      next = static_cast<TokenId>((next * 17 + 5) % vocabulary);
      sequence.push_back(next);
    }
  }
  return pack(sequences, c10::kCPU);
}

TEST(FusedLayer, AgreesWithAutogradInDoubleForEachFamily) {
  for (const Family family : {Family::qwen2, Family::qwen3, Family::llama}) {
    ModelConfig config = odd();
    config.family = family;
    Transformer model = double_model(config);
    const PackedBatch batch = batch_of({70, 1, 40}, 101);
    EXPECT_LT(worst(run(model, batch, LayerPath::automatic), run(model, batch, LayerPath::aten)),
              1e-10)
        << name_of(family);
    for (const auto& each : model.parameters())
      EXPECT_TRUE(each.tensor.grad().defined()) << each.name;
  }
}

TEST(FusedLayer, AgreesWithAutogradInDoubleForPackedSequencesOfAnyLength) {
  Transformer model = double_model(odd());
  for (const std::vector<std::int64_t>& lengths :
       {std::vector<std::int64_t>{1}, {1, 0, 3, 1}, {31, 32, 33}, {100, 7}, {65, 64, 1}}) {
    const PackedBatch batch = batch_of(lengths, 101);
    EXPECT_LT(worst(run(model, batch, LayerPath::automatic), run(model, batch, LayerPath::aten)),
              1e-10);
  }
}

TEST(FusedLayer, AgreesInFloatWithAutogradInDouble) {
  ModelConfig config = odd();
  config.hidden_size = 128;
  config.head_dim = 32;
  config.initializer_range = 0.05;
  Transformer exact = double_model(config);
  Transformer model(config, c10::kCPU);
  {
    const at::NoGradGuard no_grad;
    for (std::size_t i = 0; i < model.parameters().size(); ++i)
      model.parameters()[i].tensor.copy_(exact.parameters()[i].tensor);
  }
  const PackedBatch batch = batch_of({90, 1, 40}, 101);
  EXPECT_LT(worst(run(model, batch, LayerPath::automatic), run(exact, batch, LayerPath::aten)),
            2e-5);
}

TEST(FusedLayer, GivesTheSameBitsOnEveryRunAndForEveryNumberOfThreads) {
  Transformer model = Transformer::random(odd(), 9);
  const PackedBatch batch = batch_of({90, 3, 40, 77}, 101);
  const int threads = at::get_num_threads();
  at::set_num_threads(1);
  const auto alone = run(model, batch, LayerPath::automatic);
  at::set_num_threads(2);
  for (int i = 0; i < 3; ++i) {
    const auto again = run(model, batch, LayerPath::automatic);
    for (std::size_t j = 0; j < alone.size(); ++j) EXPECT_TRUE(at::equal(alone[j], again[j]));
  }
  at::set_num_threads(threads);
}

TEST(FusedLayer, GivesEachSequenceTheSameBitsInAnyBatch) {
  const Transformer model = Transformer::random(odd(), 9);
  const at::NoGradGuard no_grad;
  const auto both = batch_of({37, 50}, 101);
  const PackedBatch second = {.tokens = both.tokens.narrow(0, 37, 50).clone(), .offsets = {0, 50}};
  EXPECT_TRUE(at::equal(model.forward(both).narrow(0, 37, 50), model.forward(second)));
}

TEST(FusedLayer, IsNoneTheWorseForAnEmptyBatch) {
  const Transformer model = Transformer::random(odd(), 9);
  const auto hidden = model.forward(batch_of({}, 101));
  EXPECT_EQ(hidden.size(0), 0);
  hidden.sum().backward();
  EXPECT_EQ(model.embedding().grad().abs().sum().item<float>(), 0);
}

struct HeadCase {
  at::Tensor hidden, head, targets;
};

HeadCase head_case(std::int64_t rows, double spread, at::ScalarType dtype) {
  at::manual_seed(3);
  const auto options = at::TensorOptions().dtype(at::kDouble);
  HeadCase out{.hidden = (at::randn({rows, 23}, options) * spread).to(dtype),
               .head = at::randn({77, 23}, options).to(dtype),
               .targets = at::randint(77, {rows}, at::kLong)};
  for (std::int64_t i = 0; i < rows; i += 3) out.targets[i] = -1;  // masked
  out.hidden.requires_grad_(true);
  out.head.requires_grad_(true);
  return out;
}

// Returns logprob, entropy, d hidden and d head by plain autograd over all logits.
std::vector<at::Tensor> plain_head(HeadCase c, double temperature) {
  const auto logp = at::log_softmax(at::matmul(c.hidden, c.head.t()) / temperature, -1);
  const auto used = (c.targets >= 0).to(logp.scalar_type());
  const auto logprob = logp.gather(1, c.targets.clamp_min(0).unsqueeze(1)).squeeze(1) * used;
  const auto entropy = -(logp.exp() * logp).sum(-1) * used;
  const auto ramp = at::arange(1, c.hidden.size(0) + 1, logp.options().requires_grad(false));
  (at::sin(ramp) * logprob + at::cos(ramp) * entropy).sum().backward();
  return {logprob.detach(), entropy.detach(), c.hidden.grad(), c.head.grad()};
}

using Head = LogprobAndEntropy (*)(const at::Tensor&, const at::Tensor&, const at::Tensor&, double);
std::vector<at::Tensor> fused_head(Head head, HeadCase c, double temperature) {
  const auto out = head(c.hidden, c.head, c.targets, temperature);
  const auto ramp = at::arange(1, c.hidden.size(0) + 1, out.logprob.options().requires_grad(false));
  (at::sin(ramp) * out.logprob + at::cos(ramp) * out.entropy).sum().backward();
  return {out.logprob.detach(), out.entropy.detach(), c.hidden.grad(), c.head.grad()};
}

TEST(LinearLogprob, AgreesWithAutogradOverAllLogits) {
  for (const Head head : {&linear_logprob, &aten_linear_logprob})
    for (const double temperature : {1.0, 0.3, 2.5})
      for (const std::int64_t rows : {1, 31, 100})
        EXPECT_LT(worst(fused_head(head, head_case(rows, 1.0, at::kDouble), temperature),
                        plain_head(head_case(rows, 1.0, at::kDouble), temperature)),
                  1e-10);
}

TEST(LinearLogprob, StaysFiniteAndBelowZeroForExtremeLogits) {
  for (const Head head : {&linear_logprob, &aten_linear_logprob}) {
    const auto results = fused_head(head, head_case(40, 1e4, at::kFloat), 1.0);
    for (const at::Tensor& each : results) EXPECT_TRUE(each.isfinite().all().item<bool>());
    EXPECT_LE(results[0].max().item<float>(), 0);
    EXPECT_GE(results[1].min().item<float>(), 0);
  }
}

TEST(LinearLogprob, FloatAgreesWithDouble) {
  EXPECT_LT(worst(fused_head(&linear_logprob, head_case(64, 2.0, at::kFloat), 1.0),
                  plain_head(head_case(64, 2.0, at::kDouble), 1.0)),
            1e-5);
}

TEST(LinearLogprob, TakesNoRowsAndRowsThatAreAllMasked) {
  for (const Head head : {&linear_logprob, &aten_linear_logprob}) {
    HeadCase none = head_case(0, 1.0, at::kFloat);
    const auto empty = fused_head(head, none, 1.0);
    EXPECT_EQ(empty[0].size(0), 0);
    EXPECT_EQ(none.head.grad().abs().sum().item<float>(), 0);
    HeadCase masked = head_case(5, 1.0, at::kFloat);
    masked.targets.fill_(-100);
    const auto results = fused_head(head, masked, 1.0);
    for (const at::Tensor& each : results) EXPECT_EQ(each.abs().sum().item<float>(), 0);
  }
}

TEST(LinearLogprob, PassesNaNOn) {
  HeadCase c = head_case(4, 1.0, at::kFloat);
  {
    const at::NoGradGuard no_grad;
    c.hidden[1][2] = std::numeric_limits<float>::quiet_NaN();
  }
  EXPECT_TRUE(linear_logprob(c.hidden, c.head, c.targets).logprob[1].isnan().item<bool>());
}

}  // namespace
}  // namespace tritonsmith::model
