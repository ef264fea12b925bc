// Optimizer: AdamW over the flat weights of a model, its moments shared out among the ranks as
// ZeRO-1 has it (arXiv 1910.02054): each rank sums up its own shard of all ranks' gradients,
// updates that part of the weights, and hands it to the others. Each rank saves its own shard, and
// any number of ranks reads them again. Where the weights are sharded too (flat_parameters.h), it
// hands over what is computed with, and saves the masters beside the moments. Alone it is AdamW and
// nothing else.
#pragma once

#include <filesystem>
#include <functional>

#include "distributed/ranks.h"
#include "model/safetensors.h"
#include "train/adamw.h"
#include "train/sections.h"

namespace tritonsmith::train {

// What the update did, for the records.
struct UpdateReport {
  double learning_rate = 0;
  double grad_norm = 0;  // before clipping, over all ranks
};

// A copy of what one rank has of the moments, without padding, to be written by any thread.
struct OptimizerShard {
  AdamWState state;
  at::Tensor masters;      // [N] fp32 where the weights are sharded, else undefined
  std::int64_t begin = 0;  // of the shard in the whole
  int rank = 0, ranks = 1;

  // Into a checkpoint's directory: optimizer.safetensors, or optimizer-00001-of-00004.safetensors.
  Status write(const std::filesystem::path& directory) const;
};

class Optimizer {
 public:
  // Its moments are zero. The ranks must outlive it.
  Optimizer(const FlatParameters& parameters, distributed::Ranks& ranks);

  std::int64_t updates() const { return state_.updates; }
  // Of the own shard.
  std::size_t bytes() const;

  // `half`: the 16-bit copy of the weights, [saved_count], or undefined; weights that are sharded
  // have theirs with them. Fails when the gradients are not finite; the weights are then as before.
  Result<UpdateReport> update(FlatParameters& parameters, const OptimizerSection& options,
                              std::int64_t total_updates, const at::Tensor& half);

  using Copy = std::function<at::Tensor(const at::Tensor&)>;
  OptimizerShard copy(const FlatParameters& parameters, const Copy& copy) const;
  // From a directory with the shards of any number of ranks, or one file for all.
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
