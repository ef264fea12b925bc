// Learner: a model with its flat weights, gradients and optimizer state: what SFT and RL have in
// common. It turns sequences into gradients and gradients into an update, and is saved to and
// restored from a checkpoint directory in Hugging Face's layout:
//   config.json, model.safetensors, tokenizer.json (as they came), optimizer.safetensors or, of
//   several ranks, each one's shard of it
// With LoRA it trains an adapter: model.safetensors then holds the merged weights, and adapter/ the
// adapter in PEFT's layout. Several ranks compute with the same weights, take gradients of
// different sequences, and share the optimizer (optimizer.h), and the fp32 weights too where they
// are sharded: model.safetensors then holds what is computed with, and each rank's file its part of
// them. One thread uses it; the rollout engine reads the same weights between updates.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <vector>

#include "algorithm/aggregation.h"
#include "algorithm/policy_loss.h"
#include "model/host_arena.h"
#include "model/lora.h"
#include "train/optimizer.h"
#include "train/sections.h"
#include "train/token_gradient.h"

namespace tritonsmith::train {

// Where a learner computes, and with whom.
struct Seat {
  c10::Device device;
  distributed::Ranks& ranks;
  model::Precision precision = model::Precision::float16;
  Masters masters = Masters::whole;  // of all weights; an adapter's are always whole
  Seat(c10::Device on, distributed::Ranks& with = distributed::nobody_else())
      : device(on), ranks(with) {}
  Seat(c10::DeviceType on) : Seat(c10::Device(on)) {}
};

// A learner as it was, to be written by any thread while the learner goes on: on a GPU through a
// stream of its own, so that the training does not wait for the copies.
struct LearnerSnapshot {
  model::ModelConfig config;
  std::vector<model::NamedTensor> weights;  // of the model; the first rank's alone
  OptimizerShard optimizer;
  // Where there is one, the weights are the model's own: those that are adapted are merged anew as
  // they are written, the others never change.
  std::optional<model::LoraAdapter> adapter;

  c10::Device device() const { return optimizer.state.first.device(); }

  // All of a checkpoint; of a rank that is not the first its shard of the optimizer alone.
  Status save(const std::filesystem::path& directory, const std::filesystem::path& origin) const;
};

class Learner {
 public:
  // The weights of `directory`; the optimizer starts anew, and so does an adapter, if one is asked
  // for: a function of the seed.
  static Result<Learner> start(const std::filesystem::path& directory, Seat seat,
                               const model::LoraConfig& lora = {}, std::uint64_t seed = 0);
  // The same with an adapter that is there already.
  static Result<Learner> start_from(const std::filesystem::path& directory,
                                    const std::filesystem::path& adapter, Seat seat);
  // Weights and optimizer as save() left them. `origin` holds the model that training began with:
  // merged weights do not tell those that an adapter was added to.
  static Result<Learner> resume(const std::filesystem::path& directory, Seat seat,
                                const std::filesystem::path& origin);
  // Also copies the tokenizer's files from `origin`.
  Status save(const std::filesystem::path& directory, const std::filesystem::path& origin);
  // All that save() would write, copied: on the device where it fits beside the training, else in
  // host memory, which is kept for the next one. A whole copy when this returns. One at a time: the
  // one before must be gone. Each rank takes its own; together they are a checkpoint.
  Result<LearnerSnapshot> snapshot();
  // A snapshot will be asked for. If, by what the GPU holds now, it will have to go to host memory,
  // that begins to be made beside the training.
  void expect_snapshot();

  const model::Transformer& model() const { return *model_; }
  // Null when all weights are trained.
  const model::LoraAdapter* adapter() const { return adapted_ ? &adapted_->adapter : nullptr; }
  // What is trained: the model's weights, or the adapter's.
  const FlatParameters& parameters() const { return adapted_ ? adapted_->parameters : parameters_; }
  void set_recompute(model::Recompute recompute) { model_->set_recompute(recompute); }
  void set_sums(model::Sums sums) { model_->set_sums(sums); }
  std::int64_t updates() const { return optimizer_->updates(); }
  distributed::Ranks& ranks() const { return *ranks_; }

  void zero_gradients() { parameters_.zero_gradients(); }  // the adapter's follow from these
  // Adds sum(coefficient * d logprob), and likewise of the entropy, over the trained tokens of
  // these sequences to the gradients. As the coefficients carry the normaliser of the whole
  // optimizer step, how it is cut does not matter.
  void add_gradient(std::span<const MicroBatch> batches, double temperature, Dependence dependence,
                    const Coefficients& coefficients);
  // For who learns only at the end what all of them are divided by.
  void scale_gradients(double factor);
  // By the sum of all ranks' gradients. Fails when they are not finite; the weights are then as
  // before.
  Result<UpdateReport> update(const OptimizerSection& options, std::int64_t total_updates);

 private:
  struct Adapted {
    model::LoraAdapter adapter;
    FlatParameters parameters;
  };
  Learner(model::Transformer model, const Seat& seat, Masters masters);
  void adapt(model::LoraAdapter adapter);
  // Once it is known what is trained: an adapter's moments are small, the model's are not.
  void begin_optimizer() { optimizer_.emplace(trained(), *ranks_); }
  Result<LearnerSnapshot> snapshot_by(const Optimizer::Copy& copy) const;
  std::size_t snapshot_bytes() const;
  bool has_room_for_snapshot() const;  // on the GPU
  std::size_t snapshot_room() const;   // in host memory
  FlatParameters& trained() { return adapted_ ? adapted_->parameters : parameters_; }
  distributed::Ranks* ranks_;
  std::unique_ptr<model::Transformer> model_;  // at a fixed place: engines refer to it
  FlatParameters parameters_;
  std::unique_ptr<Adapted> adapted_;  // null: all weights are trained
  std::optional<Optimizer> optimizer_;
  std::size_t snapshot_on_device_ = 0;  // bytes of the last one, where it was there
  model::ComingArena arena_;            // where snapshots go that have no room on the GPU
};

}  // namespace tritonsmith::train
