// PolicyUpdater: the last phases of a step of reinforcement learning. It assigns credit to the turns
// of a step and updates the weights. update() does both for a whole step. With
// rollout.learn_early, a step's groups are added one after the other while later ones are still
// written or judged: begin_early(), add_early() for each group, finish_early(). The loop's thread
// owns it.
#pragma once

#include <functional>

#include "base/lease.h"
#include "train/credit/credit.h"
#include "train/gradient/partial_update.h"
#include "train/rl/rollout_gatherer.h"
#include "train/rl/step_trace.h"
#include "train/run/gpu_lease.h"

namespace tritonsmith::train {

// The numbers of turns that are trained on, and of those that two of the rules left out. `teacher`
// counts tokens while a teacher teaches.
struct CreditCounts {
  std::int64_t trained = 0, mismatch = 0, profile = 0;
  TeacherKl teacher;
};

// The frozen models that a step's log-probabilities are compared with. They outlive the updater.
struct FrozenModels {
  const model::Transformer* reference = nullptr;  // null without a KL term
  const model::Transformer* teacher = nullptr;    // null without one
};

// The measurements of a step's credit and updates.
struct StepUpdate {
  CreditCounts counts;
  PolicyGradientReport gradient;  // of the last update, with the tokens of all updates
  UpdateReport weights;           // of the last update
};

class PolicyUpdater {
 public:
  // All objects must outlive the updater.
  PolicyUpdater(const RlConfig& config, TrainingRun& run, FrozenModels frozen, StepTrace& trace)
      : config_(config), run_(run), frozen_(frozen), trace_(trace) {}
  // Opens the lease of the GPU that is trained on, if kernels are timed on it too.
  Status open_lease(const std::filesystem::path& file);

  // Assigns credit to all turns of a step and makes all its updates.
  Result<StepUpdate> update(std::span<JudgedSample> turns, std::vector<char> is_scored);

  // Begins a step that is trained on early, with one update: clears the gradients.
  void begin_early();
  // Adds a group's part of the gradient. The caller adds the groups in their order. Aborts outside a
  // step that began so, as finish_early() does.
  Status add_early(ScoredGroup& group);
  Result<StepUpdate> finish_early();

 private:
  struct EarlyStep {
    EarlyStep(Learner& learner, PolicyGradientOptions options)
        : gradient(learner, std::move(options)) {}
    PartialUpdate gradient;
    CreditCounts counts;
  };

  // Returns the batch to train on.
  Result<PolicyBatch> assign(std::span<JudgedSample> turns, std::vector<char> is_scored,
                             CreditCounts& counts);
  // Adds the log-probabilities of the trainer and the reference, if the config needs them.
  Status add_logprobs(PolicyBatch& batch);
  // Changes the advantages to the teacher's while it teaches.
  Status learn_from_teacher(PolicyBatch& batch, CreditCounts& counts);
  Result<TokenColumn> logprobs_of(const model::Transformer& model, const PolicyBatch& batch);
  void add_kl_to_rewards(std::span<JudgedSample> turns, const PolicyBatch& batch) const;
  Status update_by(const PolicyBatch& batch, StepUpdate& step);
  // Between micro-batches the updater lets waiting processes use the GPU.
  PolicyGradientOptions gradient_options();
  Result<UpdateReport> update_weights();
  // Returns the sequences of each update, by index. Each epoch has every sequence once. If an epoch
  // is one minibatch, it keeps their order.
  std::vector<std::vector<std::size_t>> minibatches(const PolicyBatch& batch) const;

  const RlConfig& config_;
  TrainingRun& run_;
  FrozenModels frozen_;
  StepTrace& trace_;
  std::optional<Lease> lease_;
  std::optional<GpuLease> gpu_;  // held while the updater computes
  std::optional<EarlyStep> early_;
};

}  // namespace tritonsmith::train
