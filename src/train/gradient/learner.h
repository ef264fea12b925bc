// Learner: a model with its flat weights, gradients and optimizer state, for SFT and RL. It turns
// sequences into gradients and gradients into an update. A checkpoint directory in Hugging Face's
// layout saves and restores it:
//   config.json, model.safetensors, tokenizer.json (unchanged), and optimizer.safetensors or,
//   with several ranks, one shard of it for each rank
// With LoRA it trains an adapter: model.safetensors then holds the merged weights, and adapter/ the
// adapter in PEFT's layout.
//
// Several ranks compute with the same weights and take gradients of different sequences. They share
// the optimizer (optimizer.h) and, if sharded, the fp32 weights. model.safetensors then holds the
// copy that the model computes with, and each rank's file has its part of the masters. One thread
// uses a learner; the rollout engine reads the same weights between updates.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <vector>

#include "algorithm/aggregation.h"
#include "algorithm/policy_loss.h"
#include "model/lora/lora.h"
#include "model/memory/host_arena.h"
#include "train/gradient/token_gradient.h"
#include "train/optimizer/optimizer.h"

namespace tritonsmith::train {

// The device and the ranks of a learner.
struct LearnerOptions {
  c10::Device device;
  distributed::Ranks& ranks;
  model::Precision precision = model::Precision::float16;
  Masters masters = Masters::whole;  // for all weights; an adapter's masters are always whole
  LearnerOptions(c10::Device on, distributed::Ranks& with = distributed::nobody_else())
      : device(on), ranks(with) {}
  LearnerOptions(c10::DeviceType on) : LearnerOptions(c10::Device(on)) {}
};

// A learner's state at one time. Any thread may write it while the learner goes on. On a GPU it is
// copied through its own stream, so that training does not wait for the copies.
struct LearnerSnapshot {
  model::ModelConfig config;
  std::vector<model::NamedTensor> weights;  // the model's weights; only on the first rank
  OptimizerShard optimizer;
  // With an adapter the weights are the model's own tensors: adapted weights are merged again as
  // they are written, and the others never change.
  std::optional<model::LoraAdapter> adapter;

  c10::Device device() const { return optimizer.state.first.device(); }

  // Writes the whole checkpoint. A rank other than the first writes its optimizer shard only.
  Status save(const std::filesystem::path& directory, const std::filesystem::path& origin) const;
};

class Learner {
 public:
  // Reads the weights of `directory` and makes a new optimizer. If an adapter is requested, it is a
  // function of the seed.
  static Result<Learner> start(const std::filesystem::path& directory, LearnerOptions options,
                               const model::LoraConfig& lora = {}, std::uint64_t seed = 0);
  // The same with an existing adapter.
  static Result<Learner> start_from(const std::filesystem::path& directory,
                                    const std::filesystem::path& adapter, LearnerOptions options);
  // Restores weights and optimizer as save() wrote them. `origin` holds the initial model: merged
  // weights do not tell the weights to which an adapter was added.
  static Result<Learner> resume(const std::filesystem::path& directory, LearnerOptions options,
                                const std::filesystem::path& origin);
  // Also copies the tokenizer's files from `origin`.
  Status save(const std::filesystem::path& directory, const std::filesystem::path& origin);
  // Copies all data that save() would write. The copy stays on the device if it fits beside the
  // training. Otherwise it goes to host memory, which is kept for the next snapshot. The copy is
  // complete on return. Only one snapshot may exist at a time. Each rank takes its own; together
  // they are a checkpoint.
  Result<LearnerSnapshot> snapshot();
  // Announces a snapshot. If the GPU has no room for it, the host memory is prepared while training
  // goes on.
  void expect_snapshot();

  const model::Transformer& model() const { return *model_; }
  // Null if all weights are trained.
  const model::LoraAdapter* adapter() const { return adapted_ ? &adapted_->adapter : nullptr; }
  // The trained parameters: those of the model, or of the adapter.
  const FlatParameters& parameters() const { return adapted_ ? adapted_->parameters : parameters_; }
  void set_recompute(model::Recompute recompute) { model_->set_recompute(recompute); }
  void set_sums(model::Sums sums) { model_->set_sums(sums); }
  std::int64_t updates() const { return optimizer_->updates(); }
  distributed::Ranks& ranks() const { return *ranks_; }

  // The gradients of an adapter follow from these.
  void zero_gradients() { parameters_.zero_gradients(); }
  // Adds sum(coefficient * d logprob) over the trained tokens of these sequences to the gradients,
  // and the same for the entropy. The coefficients contain the normaliser of the whole optimizer
  // step, so the cut into micro-batches does not matter.
  void add_gradient(std::span<const MicroBatch> batches, double temperature, Dependence dependence,
                    const Coefficients& coefficients);
  // For callers that know the divisor of all gradients only at the end.
  void scale_gradients(double factor);
  // Updates the weights by the sum of all ranks' gradients. Fails if the gradients are not finite;
  // the weights are then unchanged.
  Result<UpdateReport> update(const OptimizerSection& options, std::int64_t total_updates);

 private:
  struct Adapted {
    model::LoraAdapter adapter;
    FlatParameters parameters;
  };
  Learner(model::Transformer model, const LearnerOptions& options, Masters masters);
  void adapt(model::LoraAdapter adapter);
  // Called once the trained weights are known: an adapter's moments are small, a model's are not.
  void begin_optimizer() { optimizer_.emplace(trained(), *ranks_); }
  Result<LearnerSnapshot> snapshot_by(const Optimizer::Copy& copy) const;
  std::size_t snapshot_bytes() const;
  bool has_room_for_snapshot() const;  // on the GPU
  std::size_t snapshot_room() const;   // in host memory
  FlatParameters& trained() { return adapted_ ? adapted_->parameters : parameters_; }
  distributed::Ranks* ranks_;
  std::unique_ptr<model::Transformer> model_;  // at a fixed address: engines refer to it
  FlatParameters parameters_;
  std::unique_ptr<Adapted> adapted_;  // null: all weights are trained
  std::optional<Optimizer> optimizer_;
  std::size_t snapshot_on_device_ = 0;  // bytes of the last one, where it was there
  model::ComingArena arena_;            // where snapshots go that have no room on the GPU
};

}  // namespace tritonsmith::train
