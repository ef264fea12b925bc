// Optimizer: AdamW over the flat weights of a model, its moments shared out among the ranks as
// ZeRO-1 has it (arXiv 1910.02054): each rank sums up its own shard of all ranks' gradients,
// updates that part of the weights, and hands it to the others. What is saved is the whole, the
// same for any number of ranks. Alone it is AdamW and nothing else.
#pragma once

#include <filesystem>

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

class Optimizer {
 public:
  // Its moments are zero. The ranks must outlive it.
  Optimizer(const FlatParameters& parameters, distributed::Ranks& ranks);

  std::int64_t updates() const { return state_.updates; }
  // Its bytes on all ranks together.
  std::size_t bytes() const;

  // `half`: the 16-bit copy of the weights, [saved_count], or undefined. Fails when the gradients
  // are not finite; the weights are then as before.
  Result<UpdateReport> update(FlatParameters& parameters, const OptimizerSection& options,
                              std::int64_t total_updates, const at::Tensor& half);

  // A copy of the whole state on the device, without padding; of the first rank alone, the others
  // help and get nothing.
  Result<AdamWState> whole(const FlatParameters& parameters, c10::Device device) const;
  static Status write(const AdamWState& whole, const std::filesystem::path& file);
  // As write() left it, of any number of ranks.
  Status read(const FlatParameters& parameters, const std::filesystem::path& file);

 private:
  distributed::Shard own(const FlatParameters& parameters) const;
  Result<double> norm_over_ranks(const at::Tensor& own_gradients) const;
  Result<at::Tensor> joined(const at::Tensor& shard, std::int64_t count, c10::Device device) const;

  distributed::Ranks* ranks_;
  AdamWState state_;  // of the own shard
};

}  // namespace tritonsmith::train
