#include "train/optimizer.h"

#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "base/temp_dir.h"
#include "distributed/testing/thread_ranks.h"

namespace tritonsmith::train {
namespace {

using distributed::as_ranks;
using distributed::Ranks;

constexpr int kUpdates = 4;
const OptimizerSection kSettings{
    .learning_rate = 0.01, .warmup_updates = 0, .weight_decay = 0.1, .max_grad_norm = 1};

// Weights that fill a few rows, with a vector whose begin lies within a shard.
std::vector<at::Tensor> weights() {
  const auto of = [](at::IntArrayRef shape, double scale) {
    std::int64_t count = 1;
    for (const std::int64_t each : shape) count *= each;
    return (at::arange(count, at::kFloat) * scale).sin().reshape(shape).clone().requires_grad_();
  };
  return {of({40, 70}, 0.7), of({33}, 0.3), of({25, 30}, 0.2)};
}

// What one rank of `size` adds to the gradients of update `t`: the shares add up to the whole.
void add_gradients(const std::vector<at::Tensor>& tensors, int t, const Ranks& ranks) {
  const at::NoGradGuard no_grad;
  for (const at::Tensor& tensor : tensors) {
    const at::Tensor whole = (at::arange(tensor.numel(), at::kFloat) * (0.1 + t)).cos();
    const at::Tensor own = (at::arange(tensor.numel()) % ranks.size() == ranks.rank());
    tensor.grad().add_((whole * own).view(tensor.sizes()));
  }
}

struct Outcome {
  at::Tensor values;
  AdamWState state;
  double norm = 0;
};

// `then`: continues from the file, when there is one, or writes it half way.
Outcome train(Ranks& ranks, int from, int to, const std::filesystem::path& file = {}) {
  const auto tensors = weights();
  FlatParameters flat(tensors, ranks.size());
  Optimizer optimizer(flat, ranks);
  if (from > 0) {
    const Status read = optimizer.read(flat, file);
    EXPECT_TRUE(read) << read.error().message;
  }
  Outcome outcome;
  for (int t = from; t < to; ++t) {
    flat.zero_gradients();
    add_gradients(tensors, t, ranks);
    const auto report = optimizer.update(flat, kSettings, kUpdates, {});
    EXPECT_TRUE(report) << report.error().message;
    outcome.norm = report->grad_norm;
  }
  outcome.values = flat.values().narrow(0, 0, flat.saved_count()).clone();
  outcome.state = *optimizer.whole(flat, c10::kCPU);
  if (from == 0 && !file.empty() && ranks.is_first()) {
    EXPECT_TRUE(Optimizer::write(outcome.state, file));
  }
  return outcome;
}

double distance(const at::Tensor& a, const at::Tensor& b) {
  return (a - b).abs().max().item<double>();
}

TEST(Optimizer, TakesTheSameStepsOnAnyNumberOfRanks) {
  const Outcome one = train(distributed::nobody_else(), 0, kUpdates);
  EXPECT_GT(one.norm, 1) << "clipping must matter";
  for (const int size : {2, 3, 7}) {
    as_ranks(size, [&](Ranks& ranks) {
      const Outcome mine = train(ranks, 0, kUpdates);
      EXPECT_LT(distance(mine.values, one.values), 1e-6);
      EXPECT_NEAR(mine.norm, one.norm, 1e-6 * one.norm);
      EXPECT_EQ(mine.state.first.defined(), ranks.is_first());
      if (!ranks.is_first()) return;
      EXPECT_LT(distance(mine.state.first, one.state.first), 1e-6);
      EXPECT_LT(distance(mine.state.second, one.state.second), 1e-6);
      EXPECT_EQ(mine.state.updates, kUpdates);
    });
  }
}

TEST(Optimizer, IsReadByAnotherNumberOfRanks) {
  const auto directory = TempDir::make("optimizer");
  for (const auto& [writers, readers] : {std::pair{1, 2}, std::pair{3, 1}, std::pair{2, 5}}) {
    const auto file = directory->path() / fmt::format("{}.safetensors", writers);
    as_ranks(writers, [&](Ranks& ranks) { train(ranks, 0, 2, file); });
    Outcome one;
    as_ranks(1, [&](Ranks& ranks) { one = train(ranks, 2, kUpdates, file); });
    as_ranks(readers, [&](Ranks& ranks) {
      const Outcome mine = train(ranks, 2, kUpdates, file);
      EXPECT_LT(distance(mine.values, one.values), 1e-6);
      if (!ranks.is_first()) return;
      EXPECT_LT(distance(mine.state.second, one.state.second), 1e-6);
    });
  }
}

TEST(Optimizer, RefusesAnotherModelsState) {
  const auto directory = TempDir::make("optimizer");
  const auto file = directory->path() / "optimizer.safetensors";
  ASSERT_TRUE(Optimizer::write({.first = at::zeros({3}), .second = at::zeros({3})}, file));
  as_ranks(2, [&](Ranks& ranks) {
    const auto tensors = weights();
    FlatParameters flat(tensors, ranks.size());
    Optimizer optimizer(flat, ranks);
    const Status read = optimizer.read(flat, file);
    ASSERT_FALSE(read);
    EXPECT_THAT(read.error().message, ::testing::HasSubstr("'exp_avg' does not belong"));
  });
}

TEST(Optimizer, RefusesGradientsThatAreNotFiniteOnAnyRank) {
  as_ranks(2, [&](Ranks& ranks) {
    const auto tensors = weights();
    FlatParameters flat(tensors, ranks.size());
    Optimizer optimizer(flat, ranks);
    const at::Tensor before = flat.values().clone();
    if (ranks.rank() == 1) flat.gradients()[5] = std::nan("");
    const auto report = optimizer.update(flat, kSettings, kUpdates, {});
    ASSERT_FALSE(report);
    EXPECT_THAT(report.error().message, ::testing::HasSubstr("not finite"));
    EXPECT_TRUE(at::equal(flat.values(), before));
  });
}

}  // namespace
}  // namespace tritonsmith::train
