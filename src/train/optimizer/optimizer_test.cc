#include "train/optimizer/optimizer.h"

#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "base/temp_dir.h"
#include "distributed/testing/thread_ranks.h"
#include "model/weights/flat_layout.h"

namespace tritonsmith::train {
namespace {

using distributed::as_ranks;
using distributed::Ranks;

constexpr int kUpdates = 4;
const OptimizerSection kSettings{
    .learning_rate = 0.01, .warmup_updates = 0, .weight_decay = 0.1, .max_grad_norm = 1};

// Returns weights that fill a few rows, with a vector that begins within a shard.
std::vector<at::Tensor> weights() {
  const auto of = [](at::IntArrayRef shape, double scale) {
    std::int64_t count = 1;
    for (const std::int64_t each : shape) count *= each;
    return (at::arange(count, at::kFloat) * scale).sin().reshape(shape).clone().requires_grad_();
  };
  return {of({40, 70}, 0.7), of({33}, 0.3), of({25, 30}, 0.2)};
}

// Adds one rank's share to the gradients of update `t`. The shares add up to the whole.
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
  OptimizerShard shard;
  double norm = 0;
};

FlatParameters flat_of(const std::vector<at::Tensor>& tensors, const Ranks& ranks,
                       Masters masters) {
  return masters == Masters::sharded ? FlatParameters::sharded(tensors, ranks)
                                     : FlatParameters(tensors, ranks.size());
}

// Trains from update `from` on, with the directory's state if `from` is not 0. Then it saves its
// shard there.
Outcome train(Ranks& ranks, int from, int to, const std::filesystem::path& directory = {},
              Masters masters = Masters::whole) {
  const auto tensors = weights();
  FlatParameters flat = flat_of(tensors, ranks, masters);
  Optimizer optimizer(flat, ranks);
  if (from > 0) {
    const Status read = optimizer.read(flat, directory);
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
  const at::Tensor& computed = flat.is_sharded() ? flat.copy() : flat.values();
  outcome.values = computed.narrow(0, 0, flat.saved_count()).clone();
  outcome.shard = optimizer.copy(flat, [](const at::Tensor& t) { return t.clone(); });
  if (from == 0 && !directory.empty()) {
    EXPECT_TRUE(outcome.shard.write(directory));
  }
  return outcome;
}

double distance(const at::Tensor& a, const at::Tensor& b) {
  return a.numel() == 0 ? 0 : (a - b).abs().max().item<double>();
}

// Returns the distance of a shard from the part of the whole that it covers.
double distance(const OptimizerShard& shard, const OptimizerShard& whole) {
  const auto part = [&](const at::Tensor& moments) {
    return moments.narrow(0, std::min(shard.begin, moments.numel()), shard.state.first.numel());
  };
  return std::max(distance(shard.state.first, part(whole.state.first)),
                  distance(shard.state.second, part(whole.state.second)));
}

TEST(Optimizer, TakesTheSameStepsOnAnyNumberOfRanks) {
  const Outcome one = train(distributed::nobody_else(), 0, kUpdates);
  EXPECT_GT(one.norm, 1) << "clipping must matter";
  for (const Masters masters : {Masters::whole, Masters::sharded})
    for (const int size : {2, 3, 7})
      as_ranks(size, [&](Ranks& ranks) {
        const Outcome mine = train(ranks, 0, kUpdates, {}, masters);
        EXPECT_LT(distance(mine.values, one.values), 1e-6);
        EXPECT_NEAR(mine.norm, one.norm, 1e-6 * one.norm);
        EXPECT_LT(distance(mine.shard, one.shard), 1e-6);
        EXPECT_EQ(mine.shard.state.updates, kUpdates);
      });
}

// The masters are sharded, the computed copy has 16 bits, and one vector stays whole in float32.
TEST(Optimizer, WritesTheComputedCopyOfShardedWeightsOnEveryRank) {
  const Outcome one = train(distributed::nobody_else(), 0, kUpdates);
  const auto like = weights();
  const model::FlatLayout layout = model::flat_layout(like);
  for (const int size : {2, 3}) {
    as_ranks(size, [&](Ranks& ranks) {
      const auto tensors = weights();
      ComputedCopy copy{.flat =
                            at::zeros({FlatParameters::length_for(tensors, size)}, at::kBFloat16)};
      for (std::size_t i = 0; i < tensors.size(); ++i)
        copy.parts.push_back(
            copy.flat.narrow(0, layout.offsets[i], tensors[i].numel()).view(tensors[i].sizes()));
      copy.whole = {tensors[1]};
      FlatParameters flat = FlatParameters::sharded(tensors, ranks, copy);
      EXPECT_LE(flat.values().numel(), flat.total() / size);
      EXPECT_TRUE(tensors[0].isnan().all().item<bool>()) << "who reads a master must notice";
      Optimizer optimizer(flat, ranks);
      for (int t = 0; t < kUpdates; ++t) {
        flat.zero_gradients();
        add_gradients(tensors, t, ranks);
        const auto report = optimizer.update(flat, kSettings, kUpdates, {});
        ASSERT_TRUE(report) << report.error().message;
      }
      // The limit is half a unit in bfloat16's last place, for numbers up to 2.
      EXPECT_LT(distance(copy.flat.narrow(0, 0, one.values.numel()).to(at::kFloat), one.values),
                4e-3);
      const at::Tensor vector = one.values.narrow(0, layout.offsets[1], tensors[1].numel());
      EXPECT_LT(distance(tensors[1].detach(), vector), 1e-6);
      const distributed::Shard own = ranks.shard_of(flat.total());
      const std::int64_t count = std::min(own.count, one.values.numel() - own.begin);
      if (count > 0) {
        EXPECT_LT(
            distance(flat.values().narrow(0, 0, count), one.values.narrow(0, own.begin, count)),
            1e-6);
      }
    });
  }
}

TEST(Optimizer, GoesOnFromShardedWeightsOnAnyNumberOfRanksShardedOrWhole) {
  const auto directory = TempDir::make("optimizer");
  as_ranks(3, [&](Ranks& ranks) { train(ranks, 0, 2, directory->path(), Masters::sharded); });
  const Outcome one = train(distributed::nobody_else(), 0, kUpdates);
  for (const Masters masters : {Masters::whole, Masters::sharded})
    for (const int readers : {1, 2, 3, 5}) {
      if (readers == 1 && masters == Masters::sharded) continue;
      as_ranks(readers, [&](Ranks& ranks) {
        const Outcome mine = train(ranks, 2, kUpdates, directory->path(), masters);
        EXPECT_LT(distance(mine.values, one.values), 1e-6) << readers;
        EXPECT_LT(distance(mine.shard, one.shard), 1e-6) << readers;
      });
    }
}

TEST(Optimizer, IsReadByAnotherNumberOfRanks) {
  const auto directory = TempDir::make("optimizer");
  for (const auto& [writers, readers] : {std::pair{1, 2}, std::pair{3, 1}, std::pair{2, 5}}) {
    const auto file = directory->path() / fmt::format("{}", writers);
    std::filesystem::create_directory(file);
    as_ranks(writers, [&](Ranks& ranks) { train(ranks, 0, 2, file); });
    Outcome one;
    as_ranks(1, [&](Ranks& ranks) { one = train(ranks, 2, kUpdates, file); });
    as_ranks(readers, [&](Ranks& ranks) {
      const Outcome mine = train(ranks, 2, kUpdates, file);
      EXPECT_LT(distance(mine.values, one.values), 1e-6);
      EXPECT_LT(distance(mine.shard, one.shard), 1e-6);
    });
  }
}

TEST(Optimizer, RefusesAnotherModelsState) {
  const auto directory = TempDir::make("optimizer");
  const OptimizerShard foreign = {.state = {.first = at::zeros({3}), .second = at::zeros({3})}};
  ASSERT_TRUE(foreign.write(directory->path()));
  as_ranks(2, [&](Ranks& ranks) {
    const auto tensors = weights();
    FlatParameters flat(tensors, ranks.size());
    Optimizer optimizer(flat, ranks);
    const Status read = optimizer.read(flat, directory->path());
    ASSERT_FALSE(read);
    EXPECT_THAT(read.error().message, ::testing::HasSubstr("does not belong to this model"));
  });
}

TEST(Optimizer, RefusesShardsOfWhichOneIsMissing) {
  const auto directory = TempDir::make("optimizer");
  as_ranks(3, [&](Ranks& ranks) { train(ranks, 0, 2, directory->path()); });
  ASSERT_TRUE(std::filesystem::remove(directory->path() / "optimizer-00002-of-00003.safetensors"));
  const auto tensors = weights();
  FlatParameters flat(tensors, 1);
  Optimizer optimizer(flat, distributed::nobody_else());
  const Status read = optimizer.read(flat, directory->path());
  ASSERT_FALSE(read);
  EXPECT_THAT(read.error().message,
              ::testing::HasSubstr("a shard of the optimizer's state is missing"));
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
