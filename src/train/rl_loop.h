// RlLoop: the steps of a reinforcement learning run. A step gathers experience, scores it, assigns
// credit, updates the policy and records the result. With dynamic sampling, gathering takes several
// batches of prompts until enough groups can teach. run_rl owns the loop, on its thread; rl.h has
// the whole.
//
// With rollout.staleness = 1, a second thread gathers the next step's experience while this step
// trains. It uses a copy of the weights before the update, which does not change meanwhile. Only
// that thread then uses the writer, the judge and the order of tasks. A step that ends in a
// checkpoint gathers nothing ahead, so that a killed run resumes with the same numbers.
//
// With rollout.learn_early, complete groups of the step are trained on one after the other, while a
// second thread writes and judges later groups (rl_loop_early.cc). The weights change only after
// that thread has finished, so training stays on-policy.
#pragma once

#include <deque>
#include <future>

#include "base/lease.h"
#include "base/log.h"
#include "generate/token_writer.h"
#include "train/credit.h"
#include "train/gpu_turn.h"
#include "train/rl.h"
#include "train/running_gradient.h"
#include "train/training_run.h"

namespace tritonsmith::train {

// The objects of a run that do not change, besides the learner.
struct RlWorld {
  const RlConfig& config;
  const RlParts& parts;
  std::vector<Prompted> prompts;  // one for every task
};

// The models besides the learner's.
struct RlModels {
  // a copy of the weights; only with rollout.staleness
  std::unique_ptr<model::Transformer> behaviour;
  // It samples with the learner's own weights or with `behaviour`.
  std::unique_ptr<generate::TokenWriter> writer;
  std::optional<model::Transformer> reference;  // only with a KL term
};

class RlLoop {
 public:
  RlLoop(RlWorld world, TrainingRun& run, RlModels models);

  Result<RlSummary> run(const StopFlag& stop);

 private:
  // What a gathering begins with; it reads nothing else that steps change.
  struct Beginning {
    std::int64_t step = 0;
    std::int64_t lots = 0;  // sampled before
    reward::StageState stages;
    int staleness = 0;  // updates that its weights are behind
  };
  // Turns that are trained on, and those that are not.
  struct CreditCounts {
    std::int64_t trained = 0, mismatch = 0, profile = 0;

    void add_to(Metrics& metrics) const;
  };
  // What is learnt of a step while it is gathered.
  struct Learnt {
    Learnt(Learner& learner, PolicyGradientOptions options)
        : gradient(learner, std::move(options)) {}
    RunningGradient gradient;
    CreditCounts counts;
    double seconds = 0;        // spent on it
    double early_seconds = 0;  // of those, while something was still written or judged
  };
  // What a step has to learn from.
  struct Gathered {
    Experience experience;
    std::vector<char> is_scored;  // of each turn in it
    std::vector<char> is_used;    // of each turn: its group is trained on
    int lots = 0;
    int staleness = 0;
    std::unique_ptr<Learnt> learnt;  // only with rollout.learn_early
  };
  using TakeGroup = std::function<void(std::vector<JudgedSample>)>;

  Status restore_state();
  Status step(const StopFlag& stop);
  // What was gathered ahead, else gathered now.
  Result<Gathered> take_gathered();
  // Where the config and the step allow it.
  void begin_ahead(const StopFlag& stop);
  Beginning beginning_of(std::int64_t step, int staleness) const;
  Result<Gathered> gather(const Beginning& beginning);
  Result<Experience> gather_lot(const Beginning& beginning, std::int64_t lot, int first_group,
                                TakeGroup on_group = nullptr);
  // Likewise, and learns from each group as it comes.
  Result<Gathered> gather_and_learn(const Beginning& beginning);
  // The rollout's part of that: as many lots as it takes.
  struct ScoredGroup;
  Result<Gathered> gather_lots(const Beginning& beginning,
                               const std::function<void(ScoredGroup)>& take_group);
  Status learn_group(ScoredGroup group, Gathered& gathered);
  // The end of it: the update.
  Status finish_learning(Learnt& learnt, Metrics& metrics);
  std::vector<char> score(std::span<JudgedSample> samples, const reward::StageState& stages) const;
  // The weights that completions are sampled with become those of now.
  void refresh_behaviour();
  // The groups of a lot that are trained on, until there are enough of them. How many it took.
  int choose_groups(std::span<const JudgedSample> samples, std::span<const char> is_scored,
                    int wanted, std::vector<char>& is_used) const;

  Status open_lease();
  // Credit and all updates of the step; what they measured goes to `metrics`.
  Status learn(std::span<JudgedSample> turns, std::vector<char> is_scored, Metrics& metrics);
  // What the turns are trained on by.
  Result<PolicyBatch> credited(std::span<JudgedSample> turns, std::vector<char> is_scored,
                               const std::function<void()>& pause, CreditCounts& counts) const;
  Status add_logprobs(PolicyBatch& batch, const std::function<void()>& pause) const;
  void add_kl_to_rewards(std::span<JudgedSample> turns, const PolicyBatch& batch) const;
  Status update(const PolicyBatch& batch, const std::function<void()>& pause, Metrics& metrics);
  // By the learner's gradients.
  PolicyGradientOptions gradient_options() const;
  Result<UpdateReport> update_weights();
  // `last`: of the step's last update, with the tokens of all.
  static void add_update_metrics(const PolicyGradientReport& last, const UpdateReport& report,
                                 Metrics& metrics);
  // The members of each update: every sequence once an epoch. One minibatch keeps the order.
  std::vector<std::vector<std::size_t>> minibatches(const PolicyBatch& batch) const;

  // A span of the loop's own, from `begin` until now.
  void trace(TraceLane lane, std::string name, TimePoint begin);
  Status keep_trace(std::vector<TraceSpan> of_rollout);
  void observe_stages(std::span<const JudgedSample> samples, const std::vector<char>& is_scored);
  void show_progress(std::string_view more);
  double recent_mean(std::string_view name) const;

  static constexpr std::size_t kRecent = 20;
  RlWorld world_;
  const RlConfig& config_;
  TrainingRun& run_;
  RlModels models_;
  std::optional<Lease> lease_;
  std::optional<GpuTurn> turn_;  // of the update that is under way
  EpochOrder order_;
  gym::api::FaultStreak faults_{gym::api::kFaultsInARow};
  Progress progress_;
  reward::StageState stages_;
  std::int64_t lots_ = 0;  // of prompts, sampled so far in the run
  std::deque<Metrics> recent_;
  std::vector<TraceSpan> spans_;  // of the step, where it is traced
  // Behind all that its thread uses: its destructor waits for it.
  std::future<Result<Gathered>> ahead_;
};

}  // namespace tritonsmith::train
