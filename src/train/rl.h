// Reinforcement learning against the gym. A step: choose prompts, sample a group of completions for
// each, judge them, reward them, compare within the groups, update the policy. Everything a step
// needs follows from (weights, step, seed) and stored verdicts, so a killed run goes on to the same
// numbers.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <span>

#include "data/task.h"
#include "gym/client/judge.h"
#include "train/rl_config.h"
#include "train/scoring.h"
#include "train/stop.h"
#include "train/training_run.h"

namespace tritonsmith::train {

struct RlPreview {
  RunOutlook run;
  std::size_t tasks = 0;  // that leave room for a completion
};

// Checks all that run_rl would but the judge, and writes nothing.
Result<RlPreview> preview_rl(const RlConfig& config, std::span<const Task> tasks);

struct RlSummary {
  std::int64_t steps = 0;
  double reward = 0;                 // mean over the last steps (up to 20 of this process)
  double accepted = 0;               // likewise, the rate of accepted samples
  std::filesystem::path checkpoint;  // a model directory
  bool is_finished = false;          // false: asked to stop before the last step
};

// Makes the engine that generates with these weights, which change in place between steps. The run
// makes a TokenWriter of it, with the chat format of its model.
using MakeGenerator =
    std::function<Result<std::unique_ptr<generate::TokenGenerator>>(const model::Transformer&)>;

struct RlParts {
  gym::Judge& judge;
  MakeGenerator make_generator;
  References references;  // empty unless reward.similarity is used
  distributed::Ranks& ranks = distributed::nobody_else();
  // Of the GPU that is trained on, where kernels are timed on it too; empty: it is ours alone. The
  // generator has a lease of its own.
  std::filesystem::path gpu_lease = {};
};

// Begins the run in config.run.dir or goes on with it; a finished one is left as it is. The tasks
// are recorded in the run directory and must be the same when it goes on; a held-out one is
// refused. Every rank of a job calls it with the same but for the judge, which judges what the rank
// itself sampled.
Result<RlSummary> run_rl(const RlConfig& config, std::span<const Task> tasks, const RlParts& parts,
                         const StopFlag& stop);

}  // namespace tritonsmith::train
