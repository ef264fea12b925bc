// Trains a policy by reinforcement learning against the gym. A step chooses prompts, samples a
// group of completions for each, and has them judged. It then rewards them, compares them within
// the groups, and updates the policy. A step depends only on (weights, step, seed) and stored
// verdicts, so a killed run resumes with the same numbers.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <span>

#include "data/task.h"
#include "gym/api/judge.h"
#include "train/experience/scoring.h"
#include "train/rl/rl_config.h"
#include "train/run/stop.h"
#include "train/run/training_run.h"

namespace tritonsmith::train {

struct RlPreview {
  RunOutlook run;
  std::size_t tasks = 0;  // tasks that leave room for a completion
};

// Makes all checks of run_rl except those of the judge, and writes nothing.
Result<RlPreview> preview_rl(const RlConfig& config, std::span<const Task> tasks);

struct RlSummary {
  std::int64_t steps = 0;
  double reward = 0;                 // mean over the last steps (at most 20 of this process)
  double accepted = 0;               // rate of accepted samples over the same steps
  std::filesystem::path checkpoint;  // a model directory
  bool is_finished = false;          // false: it was asked to stop before the last step
};

// Makes the engine that generates with these weights, which change in place between steps. The run
// makes a TokenWriter of it, with the chat format of its model.
using MakeEngine =
    std::function<Result<std::unique_ptr<generate::TokenEngine>>(const model::Transformer&)>;

struct RlParts {
  gym::api::Judge& judge;
  MakeEngine make_engine;
  References references;  // empty unless reward.similarity is used
  distributed::Ranks& ranks = distributed::nobody_else();
  // The lease file of the training GPU if kernels are timed on it too; empty: no other use of the
  // GPU. The engine has its own lease.
  std::filesystem::path gpu_lease = {};
  std::string program = {};  // for the record: name, version and commit
};

// Begins the run in config.run.dir or resumes it; a finished run is left unchanged. The tasks are
// recorded in the run directory and must be the same on resuming. A held-out task is refused. Every
// rank of a job calls it with the same arguments, but with its own judge, which judges the samples
// of that rank.
Result<RlSummary> run_rl(const RlConfig& config, std::span<const Task> tasks, const RlParts& parts,
                         const StopFlag& stop);

}  // namespace tritonsmith::train
