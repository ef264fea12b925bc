// TrainingRun: the common frame of SFT and RL around their steps. It has the run directory, the
// learner and the checkpoints, and resumes a killed run. A checkpoint holds the learner and
// trainer.json (step, lengths of the records, the loop's own state). A resumed run therefore
// computes the same as an uninterrupted one. Each of several ranks has such a run with the same
// steps. Only the first rank writes, apart from each rank's shard of the optimizer.
#pragma once

#include <deque>
#include <map>
#include <optional>
#include <string>

#include "train/config/sections.h"
#include "train/gradient/learner.h"
#include "train/run/checkpoint_writer.h"
#include "train/run/run_directory.h"
#include "train/run/stop.h"

namespace tritonsmith::train {

struct TrainingRunOptions {
  std::string command;  // "sft" or "rl"
  Settings settings;    // the resolved config, for the records
  RunSection run;
  ModelSection model;
  model::LoraConfig lora;
  CheckpointConfig checkpoint;
  std::map<std::string, std::string> companions;  // file names and contents, for each checkpoint
  distributed::Ranks* ranks = &distributed::nobody_else();  // outlive the run
  std::string program;  // that trains, for the record: name, version and commit
};

// Describes what a call will do. Finding it out writes nothing.
struct RunOutlook {
  std::filesystem::path model;       // the initial model of the run
  std::optional<std::int64_t> step;  // the run resumes after this step; nothing: it begins
};

// The files of a run, and the step of its last checkpoint.
struct RunFiles {
  RunDirectory directory;
  CheckpointStore store;
  std::optional<std::int64_t> latest;
};

class TrainingRun {
 public:
  // Fails if open() would fail. It reads the weights, to detect damaged ones.
  static Result<RunOutlook> outlook(const TrainingRunOptions& options);
  // Opens or begins a run. A new run writes a checkpoint of step 0, so that its directory is
  // self-contained, unless checkpoints are off. If it fails on one rank, or if the ranks have
  // different configs, it fails on all ranks.
  static Result<TrainingRun> open(const TrainingRunOptions& options);

  RunDirectory& directory() { return directory_; }
  distributed::Ranks& ranks() { return *options_.ranks; }
  // Works like RunDirectory::keep_data. The data must be the same on all ranks.
  Status keep_data(const std::string& name, std::string_view bytes);
  Learner& learner() { return learner_; }
  std::int64_t step() const { return step_; }  // number of finished steps
  bool is_finished() const { return step_ >= options_.run.steps; }
  // The recorded numbers of the last steps that are done, up to `kRecentSteps`, oldest first: when
  // the run goes on, those of the process before. Empty on ranks that record nothing.
  const std::deque<Metrics>& recent() const { return recent_; }
  // Before each step: whether there is one. All ranks stop after the same step, whichever of them
  // was asked to.
  Result<bool> goes_on(const StopFlag& stop);
  // Tells whether a checkpoint follows this step in any case.
  bool ends_in_checkpoint(std::int64_t step) const {
    return writer_.store().is_due(step) || step >= options_.run.steps;
  }
  bool has_checkpoints() const { return writer_.store().is_in_use(); }
  // Prepares memory for a checkpoint while training goes on. The run calls it after each step. A
  // caller that knows earlier that the GPU is full may call it then.
  void expect_checkpoint() {
    if (has_checkpoints()) learner_.expect_snapshot();
  }
  // The loop's own state between steps: an object, empty in a new run.
  Json& state() { return state_; }

  // Records the step's numbers. A checkpoint follows when one is due, after the last step, and when
  // the run is asked to stop. It is written while training goes on. The last checkpoint is on the
  // disk when this function returns.
  Status finish_step(const Metrics& metrics, const StopFlag& stop);
  // Returns the directory of the last checkpoint, or an empty path without checkpoints.
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
  static Result<TrainingRun> open_in(const TrainingRunOptions& options, RunFiles files);
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

// A summary and a progress line show means over so many steps.
inline constexpr std::size_t kRecentSteps = 20;

// The mean of what the steps recorded under this name, as far as it is a finite number; 0 without.
double recent_mean(const std::deque<Metrics>& recent, std::string_view name);

// Runs `body`; what LibTorch throws in it (out of memory, a broken GPU) becomes an Error.
Status without_exceptions(const std::function<Status()>& body);

}  // namespace tritonsmith::train
