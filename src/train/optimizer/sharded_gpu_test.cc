// Compares ranks that shard the float32 weights, each with the whole 16-bit copy, with ranks that
// hold them whole. The ranks are threads of one process on one GPU. Skips without a GPU or without
// kernels in the build.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>
#include <mutex>

#include "base/rng.h"
#include "distributed/testing/thread_ranks.h"
#include "model/layers/testing/on_gpu.h"
#include "model/weights/flat_layout.h"
#include "train/batch/micro_batch.h"
#include "train/optimizer/optimizer.h"

namespace tritonsmith::train {
namespace {

constexpr int kRanks = 2, kSteps = 3;

using ShardedOnGpu = model::OnGpu<1>;

std::vector<TrainingSequence> sequences_of(int rank) {
  std::vector<TrainingSequence> all;
  for (std::uint64_t i = 0; i < 3; ++i) {
    Rng rng(1, "sequence", 3 * static_cast<std::uint64_t>(rank) + i);
    TrainingSequence& sequence = all.emplace_back(TrainingSequence{.prompt_length = 1});
    for (std::uint64_t t = 0; t < 40 + 60 * i; ++t)
      sequence.tokens.push_back(static_cast<TokenId>(rng.below(512)));
  }
  return all;
}

FlatParameters flat_of(model::Transformer& model, Masters masters,
                       const distributed::Ranks& ranks) {
  const auto tensors = model::tensors_of(model.parameters());
  if (masters == Masters::whole) return FlatParameters(tensors, ranks.size());
  const model::HalfWeights* half = model.keep_half_weights(model::FlatLayout::kRow * ranks.size());
  return FlatParameters::sharded(
      tensors, ranks,
      {.flat = half->flat(), .parts = half->parts(), .whole = model.whole_masters()});
}

// Adds the gradient of a rank's sequences. Returns their log-probability.
double add_gradient(const model::Transformer& model, int rank) {
  const auto sequences = sequences_of(rank);
  const std::vector<std::size_t> members = {0, 1, 2};
  double sum = 0;
  for (const MicroBatch& batch :
       make_micro_batches(sequences, members, {.budget = 1000}, model.device())) {
    const auto now = forward_tokens(model, batch, 1.0);
    now.logprob.backward(at::full_like(now.logprob, -0.01));
    sum += now.logprob.detach().sum().item<double>();
  }
  return sum;
}

struct Trained {
  at::Tensor before, after;      // the computed copy of rank 0
  std::vector<double> logprobs;  // for each step
  at::Tensor norm, embedding;    // float32, of rank 1
};

Trained train(const model::ModelConfig& config, Masters masters, c10::Device device) {
  Trained trained;
  std::mutex exclusive;  // only one thread at a time may use the chosen kernels
  distributed::as_ranks(kRanks, [&](distributed::Ranks& ranks) {
    std::unique_lock lock(exclusive);
    auto model = model::Transformer::random(config, 3, device);
    model.set_precision(model::Precision::bfloat16);
    FlatParameters flat = flat_of(model, masters, ranks);
    Optimizer optimizer(flat, ranks);
    const auto copy = [&] {
      return model.half_weights()->flat().narrow(0, 0, flat.saved_count()).clone();
    };
    if (ranks.is_first()) trained.before = copy();
    lock.unlock();
    for (int step = 0; step < kSteps; ++step) {
      flat.zero_gradients();
      lock.lock();
      const double logprob = add_gradient(model, ranks.rank());
      lock.unlock();
      if (ranks.is_first()) trained.logprobs.push_back(logprob);
      const auto report =
          optimizer.update(flat, {.learning_rate = 0.003, .warmup_updates = 0}, 10,
                           masters == Masters::whole ? model.half_weights()->flat() : at::Tensor());
      EXPECT_TRUE(report) << report.error().message;
    }
    if (masters == Masters::sharded) {
      EXPECT_TRUE(model.layers()[0].down.isnan().all().item<bool>());
      EXPECT_EQ(flat.values().numel(), flat.total() / kRanks);
    }
    if (ranks.is_first()) {
      trained.after = copy();
    } else {
      trained.norm = model.layers()[1].post_norm.detach().clone();
      trained.embedding = model.embedding().detach().clone();
    }
  });
  return trained;
}

// Returns the difference of two results as a share of their distance from the start.
double apart(const at::Tensor& a, const at::Tensor& b, const at::Tensor& start) {
  const auto way = [&](const at::Tensor& end) { return model::wide(end) - model::wide(start); };
  return model::difference(way(a), way(b));
}

TEST_F(ShardedOnGpu, StepsAreThoseOfWholeMasters) {
  for (const model::Family family : {model::Family::qwen2, model::Family::qwen3})
    for (const bool is_tied : {true, false}) {
      model::ModelConfig config = model::narrow_model(family);
      config.num_hidden_layers = 2;
      config.tie_word_embeddings = is_tied;
      const Trained whole = train(config, Masters::whole, device_);
      const Trained sharded = train(config, Masters::sharded, device_);
      EXPECT_TRUE(at::equal(sharded.before, whole.before));
      // FlashAttention adds gradients in no fixed order. In AdamW's first steps, even a gradient
      // near zero causes a whole step in the direction of its sign.
      EXPECT_LT(apart(sharded.after, whole.after, whole.before), 0.05) << is_tied;
      for (std::size_t i = 0; i < whole.logprobs.size(); ++i)
        EXPECT_NEAR(sharded.logprobs[i], whole.logprobs[i], 2e-3 * std::abs(whole.logprobs[i]));
      const auto start = model::Transformer::random(config, 3, device_);
      EXPECT_LT(apart(sharded.norm, whole.norm, start.layers()[1].post_norm.detach()), 0.05);
      EXPECT_LT(apart(sharded.embedding, whole.embedding, start.embedding().detach()), 0.05);
    }
}

}  // namespace
}  // namespace tritonsmith::train
