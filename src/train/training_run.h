// TrainingRun: what SFT and RL have in common around their steps: the run directory, the learner,
// the checkpoints, and going on where a killed process stopped. A checkpoint holds the learner and
// trainer.json (step, lengths of the records, the loop's own state), so a resumed run computes what
// the uninterrupted one would have. Of several ranks every one has such a run of the same steps;
// the first alone writes, but for each one's shard of the optimizer's state.
#pragma once

#include <deque>
#include <map>
#include <optional>
#include <string>

#include "train/checkpoint_writer.h"
#include "train/learner.h"
#include "train/run_directory.h"
#include "train/sections.h"
#include "train/stop.h"

namespace tritonsmith::train {

struct TrainingRunOptions {
  std::string command;  // "sft" or "rl"
  Settings settings;    // the resolved config, for the record
  RunSection run;
  ModelSection model;
  model::LoraConfig lora;
  CheckpointConfig checkpoint;
  std::map<std::string, std::string> companions;  // file names and contents, for each checkpoint
  distributed::Ranks* ranks = &distributed::nobody_else();  // outlive the run
  std::string program;  // that trains, for the record: name, version and commit
};

// What a call would do, found out without writing anything.
struct RunOutlook {
  std::filesystem::path model;       // that the run begins, or once began, with
  std::optional<std::int64_t> step;  // it goes on after this one; nothing: it begins
};

// Where a run's files are, and the step of its last checkpoint.
struct RunPlace {
  RunDirectory directory;
  CheckpointStore store;
  std::optional<std::int64_t> latest;
};

class TrainingRun {
 public:
  // Fails where open() would. Reads the weights, so that damaged ones show.
  static Result<RunOutlook> outlook(const TrainingRunOptions& options);
  // A new run begins with a checkpoint of step 0, so that the directory needs nothing outside it
  // (unless it is to have no checkpoints).
  // Fails on all ranks where it does on one, and where they were not given the same config.
  static Result<TrainingRun> open(const TrainingRunOptions& options);

  RunDirectory& directory() { return directory_; }
  distributed::Ranks& ranks() { return *options_.ranks; }
  // As RunDirectory has it; the data must be the same on all ranks.
  Status keep_data(const std::string& name, std::string_view bytes);
  Learner& learner() { return learner_; }
  std::int64_t step() const { return step_; }  // how many are done
  bool is_finished() const { return step_ >= options_.run.steps; }
  // The recorded numbers of the last steps that are done, up to `kRecentSteps`, oldest first: when
  // the run goes on, those of the process before. Empty on ranks that record nothing.
  const std::deque<Metrics>& recent() const { return recent_; }
  // Before each step: whether there is one. All ranks stop after the same step, whichever of them
  // was asked to.
  Result<bool> goes_on(const StopFlag& stop);
  // Whether a checkpoint follows this step in any case.
  bool ends_in_checkpoint(std::int64_t step) const {
    return writer_.store().is_due(step) || step >= options_.run.steps;
  }
  bool has_checkpoints() const { return writer_.store().is_in_use(); }
  // Makes ready, beside the training, what a checkpoint will need. The run does so after each step;
  // who knows earlier that the GPU has become full says so.
  void expect_checkpoint() {
    if (has_checkpoints()) learner_.expect_snapshot();
  }
  // What the loop itself must remember between steps; an object, empty in a new run.
  Json& state() { return state_; }

  // The step's numbers are recorded; a checkpoint follows when one is due, after the last step, and
  // when the run is asked to stop. It is written while the training goes on; the last one is on the
  // disk when this returns.
  Status finish_step(const Metrics& metrics, const StopFlag& stop);
  // Of the last checkpoint; empty where there are none.
  std::filesystem::path checkpoint_path() const {
    return has_checkpoints() ? writer_.store().path_of(step_) : std::filesystem::path();
  }

 private:
  TrainingRun(TrainingRunOptions options, RunDirectory directory, CheckpointWriter writer,
              Learner learner)
      : options_(std::move(options)),
        directory_(std::move(directory)),
        writer_(std::move(writer)),
        learner_(std::move(learner)) {}
  static Result<TrainingRun> open_in(const TrainingRunOptions& options, RunPlace place);
  Status restore(std::int64_t step);
  Status begin();
  Status save();
  Status publish();
  Status publish_if_written();

  TrainingRunOptions options_;
  RunDirectory directory_;
  CheckpointWriter writer_;
  Learner learner_;
  std::int64_t step_ = 0;
  std::optional<std::int64_t> unpublished_;  // of several ranks: the step whose parts are written
  std::optional<bool> is_stopping_;  // what the ranks agreed on; nothing yet before the first step
  Json state_ = Json::object();
  std::deque<Metrics> recent_;
};

// What a summary and a progress line are means of.
inline constexpr std::size_t kRecentSteps = 20;

// The mean of what the steps recorded under this name, as far as it is a finite number; 0 without.
double recent_mean(const std::deque<Metrics>& recent, std::string_view name);

// Runs `body`; what LibTorch throws in it (out of memory, a broken GPU) becomes an Error.
Status without_exceptions(const std::function<Status()>& body);

}  // namespace tritonsmith::train
