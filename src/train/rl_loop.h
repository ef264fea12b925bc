// RlLoop: the steps of a reinforcement learning run. A step: gather experience (with dynamic
// sampling in several lots, until enough groups can teach), score it, assign credit, update the
// policy, record. Owned by run_rl, on its thread; rl.h has the whole.
#pragma once

#include <deque>

#include "base/log.h"
#include "train/credit.h"
#include "train/rl.h"
#include "train/training_run.h"

namespace tritonsmith::train {

// What stays the same over a run besides the learner.
struct RlWorld {
  const RlConfig& config;
  const RlParts& parts;
  const text::Tokenizer& tokenizer;
  text::ChatTemplate chat;
  std::vector<Prompted> prompts;     // of every task
  std::vector<TokenId> stop_tokens;  // of any completion
};

class RlLoop {
 public:
  RlLoop(RlWorld world, TrainingRun& run, std::unique_ptr<rollout::Generator> generator,
         std::optional<model::Transformer> reference);

  Result<RlSummary> run(const StopFlag& stop);

 private:
  // What a step has to learn from.
  struct Gathered {
    Experience experience;
    std::vector<char> is_scored;  // of each turn in it
    std::vector<char> is_used;    // of each turn: its group is trained on
    int lots = 0;
  };

  Status restore_state();
  Status step(const StopFlag& stop);
  Result<Gathered> gather();
  Result<Experience> gather_lot(std::int64_t lot, int first_group);
  std::vector<char> score(std::span<JudgedSample> samples) const;
  // The groups of a lot that are trained on, until there are enough of them. How many it took.
  int choose_groups(std::span<const JudgedSample> samples, std::span<const char> is_scored,
                    int wanted, std::vector<char>& is_used) const;

  // Credit and all updates of the step; what they measured goes to `metrics`.
  Status learn(std::span<JudgedSample> turns, std::vector<char> is_scored, Metrics& metrics);
  Status add_logprobs(PolicyBatch& batch) const;
  void add_kl_to_rewards(std::span<JudgedSample> turns, const PolicyBatch& batch) const;
  Status update(const PolicyBatch& batch, Metrics& metrics);
  // The members of each update: every sequence once an epoch. One minibatch keeps the order.
  std::vector<std::vector<std::size_t>> minibatches(const PolicyBatch& batch) const;

  void observe_stages(std::span<const JudgedSample> samples, const std::vector<char>& is_scored);
  void show_progress(std::string_view more);
  double recent_mean(std::string_view name) const;

  static constexpr std::size_t kRecent = 20;
  RlWorld world_;
  const RlConfig& config_;
  TrainingRun& run_;
  std::unique_ptr<rollout::Generator> generator_;
  std::optional<model::Transformer> reference_;  // only with a KL term
  EpochOrder order_;
  gym::FaultStreak faults_{gym::kFaultsInARow};
  Progress progress_;
  reward::StageState stages_;
  std::int64_t lots_ = 0;  // of prompts, sampled so far in the run
  std::deque<Metrics> recent_;
};

}  // namespace tritonsmith::train
