// RlLoop: the steps of a reinforcement learning run. A step has phases, each of which returns a
// value: choose prompts, gather rollouts, score them (rollout_gatherer.h), assign credit and update
// the weights (policy_updater.h), and record. run_rl owns the loop, on its thread.
//
// All variants of a step run through these same phases:
//   - By default a step gathers all its groups and then trains on them.
//   - With rollout.staleness = 1, a second thread gathers the next step's groups while this step
//     trains. It uses a copy of the weights before the update, which does not change meanwhile. A
//     step that ends in a checkpoint gathers nothing ahead, so that a killed run resumes with the
//     same numbers.
//   - With rollout.learn_early, a second thread gathers this step's groups, and the loop adds the
//     gradient of each complete group meanwhile. The weights change only after that thread has
//     finished, so training stays on-policy.
#pragma once

#include "base/log.h"
#include "generate/token_writer.h"
#include "train/rl/policy_updater.h"
#include "train/rl/rollout_stream.h"

namespace tritonsmith::train {

// The models besides the learner's.
struct RlModels {
  // a copy of the weights; only with rollout.staleness
  std::unique_ptr<model::Transformer> behaviour;
  // It samples with the learner's own weights or with `behaviour`.
  std::unique_ptr<generate::TokenWriter> writer;
  std::optional<model::Transformer> reference;  // only with a KL term
  std::optional<model::Transformer> teacher;    // only with teacher.path
};

class RlLoop {
 public:
  RlLoop(RlWorld world, TrainingRun& run, RlModels models);

  Result<RlSummary> run(const StopFlag& stop);

 private:
  // All rollouts of a step, scored.
  struct Rollouts {
    Experience experience;
    std::vector<char> is_scored, is_used;  // of each turn; is_used: its group is trained on
    int prompt_batches = 0;
    int staleness = 0;
    double waited_seconds = 0;    // while there was no group to train on
    double early_seconds = 0;     // of training on groups while others were gathered
    double training_seconds = 0;  // of training on groups before all were gathered

    void add(ScoredGroup group);
  };

  Status restore_state();
  Status step(const StopFlag& stop);
  // The step's stream of groups: the one that was begun ahead, or a new one.
  std::unique_ptr<RolloutStream> open_rollouts();
  std::unique_ptr<RolloutStream> begin_rollouts(std::int64_t step, int staleness,
                                                RolloutStream::Runs runs);
  // Waits for all groups. With rollout.learn_early it trains on each group as it comes.
  Result<Rollouts> gather(RolloutStream& stream);
  // Begins the next step's rollouts, if the config and the step allow it.
  void begin_ahead(const StopFlag& stop);
  // Moves the turns that count to the front, and trains on them.
  Result<StepUpdate> update(Rollouts& rollouts);
  // Copies the learner's weights into the weights that sample.
  void refresh_behaviour();

  void observe_stages(const Rollouts& rollouts);
  Status record_examples(std::span<const JudgedSample> samples);
  void show_progress(std::string_view more);

  RlWorld world_;
  const RlConfig& config_;
  TrainingRun& run_;
  RlModels models_;
  Progress progress_;
  StepTrace trace_;
  PolicyUpdater updater_;
  RolloutGatherer gatherer_;
  reward::StageState stages_;
  std::int64_t prompt_batches_ = 0;  // sampled so far in the run
  // After the members that its thread uses, because its destructor waits for the thread.
  std::unique_ptr<RolloutStream> ahead_;
};

}  // namespace tritonsmith::train
