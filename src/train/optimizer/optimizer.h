// Optimizer: AdamW over the flat weights of a model. The ranks share its moments as in ZeRO-1
// (arXiv 1910.02054). Each rank sums its own shard of all ranks' gradients, updates that part of
// the weights, and sends it to the others. Each rank saves its own shard, and any number of ranks
// can read the shards. If the weights are sharded too (flat_parameters.h), a rank sends the copy
// that the model computes with, and saves the masters beside the moments. With one rank it is plain
// AdamW.
#pragma once

#include <filesystem>
#include <functional>

#include "distributed/ranks.h"
#include "model/weights/safetensors.h"
#include "train/optimizer/adamw.h"
#include "train/optimizer/optimizer_section.h"

namespace tritonsmith::train {

// A report of the update, for the records.
struct UpdateReport {
  double learning_rate = 0;
  double grad_norm = 0;  // before clipping, over all ranks
};

// A copy of one rank's moments without padding. Any thread may write it.
struct OptimizerShard {
  AdamWState state;
  at::Tensor masters;      // [N] fp32 if the weights are sharded, else undefined
  std::int64_t begin = 0;  // begin of the shard in the whole
  int rank = 0, ranks = 1;

  // Writes optimizer.safetensors, or optimizer-00001-of-00004.safetensors, into a checkpoint's
  // directory.
  Status write(const std::filesystem::path& directory) const;
};

class Optimizer {
 public:
  // Begins with zero moments. The ranks must outlive it.
  Optimizer(const FlatParameters& parameters, distributed::Ranks& ranks);

  std::int64_t updates() const { return state_.updates; }
  // Bytes of the rank's own shard.
  std::size_t bytes() const;

  // `half` is the 16-bit copy of the weights, [saved_count], or undefined; sharded weights have
  // their own copy. Fails if the gradients are not finite; the weights are then unchanged.
  Result<UpdateReport> update(FlatParameters& parameters, const OptimizerSection& options,
                              std::int64_t total_updates, const at::Tensor& half);

  using Copy = std::function<at::Tensor(const at::Tensor&)>;
  OptimizerShard copy(const FlatParameters& parameters, const Copy& copy) const;
  // Reads a directory with the shards of any number of ranks, or with one file for all.
  Status read(const FlatParameters& parameters, const std::filesystem::path& directory);

 private:
  distributed::Shard own(const FlatParameters& parameters) const;
  Result<double> norm_over_ranks(const at::Tensor& own_gradients) const;
  Status hand_over(const FlatParameters& parameters, const at::Tensor& half) const;
  Status read_whole(const std::filesystem::path& file);
  Status read_shards(const FlatParameters& parameters,
                     const std::vector<std::filesystem::path>& files);

  distributed::Ranks* ranks_;
  AdamWState state_;  // of the own shard
};

}  // namespace tritonsmith::train
