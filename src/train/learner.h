// Learner: a model with its flat weights, gradients and optimizer state: what SFT and RL have in
// common. It turns sequences into gradients and gradients into an update, and is saved to and
// restored from a checkpoint directory in Hugging Face's layout:
//   config.json, model.safetensors, tokenizer.json (as they came), optimizer.safetensors
// One thread uses it; the rollout engine reads the same weights between updates.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>

#include "algorithm/aggregation.h"
#include "algorithm/policy_loss.h"
#include "train/micro_batch.h"
#include "train/sections.h"

namespace tritonsmith::train {

// What the update did, for the records.
struct UpdateReport {
  double learning_rate = 0;
  double grad_norm = 0;  // before clipping
};

// What the gradient of a loss is made from, for each trained token of a micro-batch.
struct TokenGradient {
  at::Tensor logprob;  // [N], d loss / d logprob
  at::Tensor entropy;  // [N], d loss / d entropy; undefined: 0
};
// From what the model gives now (without gradient history).
using Coefficients =
    std::function<TokenGradient(const MicroBatch&, const model::LogprobAndEntropy& now)>;

class Learner {
 public:
  // The weights of `directory`; the optimizer starts anew.
  static Result<Learner> start(const std::filesystem::path& directory, c10::Device device);
  // Weights and optimizer as save() left them.
  static Result<Learner> resume(const std::filesystem::path& directory, c10::Device device);
  // Also copies the tokenizer's files from `origin`.
  Status save(const std::filesystem::path& directory, const std::filesystem::path& origin) const;

  const model::Transformer& model() const { return *model_; }
  const FlatParameters& parameters() const { return parameters_; }
  void set_recompute(model::Recompute recompute) { model_->set_recompute(recompute); }
  std::int64_t updates() const { return optimizer_.updates; }

  void zero_gradients() { parameters_.zero_gradients(); }
  // Adds sum(coefficient * d logprob), and likewise of the entropy, over the trained tokens of
  // these sequences to the gradients. As the coefficients carry the normaliser of the whole
  // optimizer step, how it is cut does not matter.
  void add_gradient(std::span<const MicroBatch> batches, double temperature,
                    const Coefficients& coefficients);
  // Fails when the gradients are not finite; the weights are then as before.
  Result<UpdateReport> update(const OptimizerSection& options, std::int64_t total_updates);

 private:
  explicit Learner(model::Transformer model);
  std::unique_ptr<model::Transformer> model_;  // at a fixed place: engines refer to it
  FlatParameters parameters_;
  AdamWState optimizer_;
};

}  // namespace tritonsmith::train
