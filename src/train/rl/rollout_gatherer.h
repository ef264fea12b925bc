// RolloutGatherer: the first phases of a step of reinforcement learning. It chooses prompts,
// samples completions, has them judged, scores them, and selects the groups to train on. With
// dynamic sampling it takes several prompt batches until enough groups can teach. One thread at a
// time uses it: the loop's, or the thread of a RolloutStream. Of the things that a step changes, it
// reads only those in RolloutStart and the weights of the writer.
#pragma once

#include <functional>
#include <string_view>

#include "generate/token_writer.h"
#include "gym/api/fault_streak.h"
#include "train/batch/packing.h"
#include "train/experience/rollout_step.h"
#include "train/rl/rl.h"
#include "train/run/training_run.h"

namespace tritonsmith::train {

// The objects of a run that do not change, besides the learner.
struct RlWorld {
  const RlConfig& config;
  const RlParts& parts;
  std::vector<Prompted> prompts;  // one for every task
};

// The state of the run at the time when the gathering of a step begins.
struct RolloutStart {
  std::int64_t step = 0;
  std::int64_t prompt_batches = 0;  // sampled by earlier steps
  reward::StageState stages;
  int staleness = 0;  // number of updates by which the sampling weights are behind
};

// All samples of one prompt, with their rewards.
struct ScoredGroup {
  std::vector<JudgedSample> samples;
  std::vector<char> is_scored;  // of each sample: it has a reward
  bool is_used = false;         // the group is trained on
};
using TakeGroup = std::function<void(ScoredGroup)>;

// The numbers of a gathering. The callback has received its samples.
struct GatheringTotals {
  Experience experience;
  int prompt_batches = 0;
};

class RolloutGatherer {
 public:
  // Shows how many completions are written and judged.
  using ShowProgress = std::function<void(std::string_view)>;

  // All objects must outlive it.
  RolloutGatherer(const RlWorld& world, TrainingRun& run, generate::TokenWriter& writer,
                  ShowProgress show_progress);

  // Hands over the groups of a step in their order. With rollout.learn_early a group is handed over
  // once it and those before it are judged, otherwise after its prompt batch.
  Result<GatheringTotals> gather(const RolloutStart& start, const TakeGroup& take_group);
  // The largest number of groups that one call of gather() can hand over.
  std::size_t most_groups() const;

 private:
  using TakeSamples = std::function<void(std::vector<JudgedSample>)>;

  // The prompts of a batch, counted from 1 over the whole run.
  std::vector<Prompted> choose_prompts(std::int64_t batch);
  // `number` counts the prompt batches of this step from 1.
  Result<Experience> roll_out_batch(const RolloutStart& start, int number,
                                    const TakeSamples& take_samples);
  // Asks reward.url about samples of this rank, if there is one.
  Status ask_url(std::span<JudgedSample> samples) const;
  ScoredGroup score(std::vector<JudgedSample> samples, const reward::StageState& stages) const;
  bool teaches(const ScoredGroup& group) const;

  const RlWorld& world_;
  const RlConfig& config_;
  TrainingRun& run_;
  generate::TokenWriter& writer_;
  ShowProgress show_progress_;
  EpochOrder order_;
  gym::api::FaultStreak faults_{gym::api::kFaultsInARow};
};

}  // namespace tritonsmith::train
