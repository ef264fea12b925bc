// Sequences with shared prefixes, compared with the same sequences one by one.
#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <ATen/core/grad_mode.h>
#include <gtest/gtest.h>

#include "model/transformer/testing/gradients.h"
#include "model/transformer/testing/twice.h"
#include "model/transformer/transformer.h"

namespace tritonsmith::model {
namespace {

ModelConfig odd(Family family) {
  return {.family = family,
          .vocab_size = 101,
          .hidden_size = 42,
          .intermediate_size = 75,
          .num_hidden_layers = 2,
          .num_attention_heads = 6,
          .num_key_value_heads = 2,
          .head_dim = 10,
          .initializer_range = 0.3};
}

// Groups of three and of two, a single sequence, a second group that begins like the first, and one
// sequence that continues another.
const std::vector<SharingPart>& parts() {
  static const std::vector<SharingPart> all = {{0, 0, 70},  {0, 37, 20}, {0, 37, 1},  {0, 0, 5},
                                               {0, 11, 60}, {4, 50, 33}, {5, 83, 12}, {0, 0, 1}};
  return all;
}

Transformer model_of(Family family, c10::ScalarType type) {
  const Transformer start = Transformer::random(odd(family), 5);
  Transformer model(odd(family), c10::kCPU, type);
  const at::NoGradGuard no_grad;
  at::manual_seed(1);
  for (std::size_t i = 0; i < model.parameters().size(); ++i) {
    const at::Tensor& tensor = model.parameters()[i].tensor;
    tensor.copy_(start.parameters()[i].tensor);
    if (tensor.dim() == 1) tensor.add_(at::randn_like(tensor) * 0.2);  // biases and norms too
  }
  return model;
}

TEST(SharedPrefixes, GiveTheStatesAndGradientsOfWholeSequencesInDouble) {
  const Twice both = twice(parts(), 101, c10::kCPU);
  for (const Family family : {Family::qwen2, Family::qwen3, Family::llama}) {
    Transformer model = model_of(family, at::kDouble);
    const auto expected = run(model, both.whole, LayerPath::aten, both.rows);
    for (const LayerPath path : {LayerPath::automatic, LayerPath::aten})
      EXPECT_LT(worst(run(model, both.shared, path), expected), 1e-10) << name_of(family);
  }
}

TEST(SharedPrefixes, ChangeNoBitOfTheStatesAndLittleOfTheGradientsInFloat) {
  const Twice both = twice(parts(), 101, c10::kCPU);
  Transformer model = model_of(Family::qwen2, at::kFloat);
  const auto whole = run(model, both.whole, LayerPath::automatic, both.rows);
  const auto shared = run(model, both.shared, LayerPath::automatic);
  EXPECT_TRUE(at::equal(shared[0], whole[0]));
  EXPECT_LT(worst(shared, whole), 2e-5);
}

TEST(SharedPrefixes, GiveTheSameBitsForEveryNumberOfThreads) {
  const Twice both = twice(parts(), 101, c10::kCPU);
  Transformer model = model_of(Family::qwen3, at::kFloat);
  const int threads = at::get_num_threads();
  at::set_num_threads(1);
  const auto alone = run(model, both.shared, LayerPath::automatic);
  at::set_num_threads(2);
  for (int i = 0; i < 3; ++i) {
    const auto again = run(model, both.shared, LayerPath::automatic);
    for (std::size_t j = 0; j < alone.size(); ++j) EXPECT_TRUE(at::equal(alone[j], again[j]));
  }
  at::set_num_threads(threads);
}

TEST(SharedPrefixes, AreWhatPrecedesASequencesRows) {
  const PackedBatch batch = twice({{0, 0, 4}, {0, 3, 2}, {1, 4, 1}}, 101, c10::kCPU).shared;
  EXPECT_EQ(batch.longest(), 5);
  EXPECT_EQ(batch.longest_rows(), 4);
  EXPECT_TRUE(batch.is_shared());
  EXPECT_EQ(batch.positions(), (std::vector<std::int64_t>{0, 1, 2, 3, 3, 4, 4}));
  const SharedKeys keys = shared_keys(batch);
  EXPECT_EQ(keys.rows, (std::vector<std::int64_t>{0, 1, 2, 3, 0, 1, 2, 4, 5, 0, 1, 2, 4, 6}));
  EXPECT_EQ(keys.offsets, (std::vector<std::int64_t>{0, 4, 9, 14}));
  EXPECT_EQ(keys.longest, 5);
  EXPECT_EQ(keys.uses, (std::vector<std::int64_t>{0, 4, 9, 1, 5, 10, 2, 6, 11, 3, 7, 12, 8, 13}));
  EXPECT_EQ(keys.use_offsets, (std::vector<std::int64_t>{0, 3, 6, 9, 10, 12, 13, 14}));
}

TEST(SharedPrefixes, MayBeOfEarlierSequencesOnly) {
  PackedBatch batch = twice({{0, 0, 4}, {0, 3, 2}}, 101, c10::kCPU).shared;
  batch.prefixes[1].sequence = 1;
  EXPECT_DEATH(shared_keys(batch), "sequence 1 begins with 3 tokens of sequence 1");
}

}  // namespace
}  // namespace tritonsmith::model
