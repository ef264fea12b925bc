// Supervised fine-tuning: the loop from examples to a model. A step takes examples in a shuffled
// order until its token budget is full, and makes one update from them.
#pragma once

#include <filesystem>
#include <span>
#include <string>

#include "model/lora.h"
#include "train/checkpoint_store.h"
#include "train/sections.h"
#include "train/sft_examples.h"
#include "train/stop.h"
#include "train/training_run.h"

namespace tritonsmith::train {

struct SftDataSection {
  std::string examples;
  std::string heldout;             // none: nothing is held out
  std::int64_t heldout_every = 0;  // steps; 0: before the first step and after the last
  std::int64_t step_tokens = 2048;
  std::int64_t max_tokens = 1024;
  static Fields<SftDataSection> fields();
};

struct SftConfig {
  RunSection run;
  // No sampler has to agree with it, and bfloat16 needs no conversions on the way back.
  ModelSection model = {.precision = model::Precision::bfloat16};
  model::LoraConfig lora;
  SftDataSection data;
  OptimizerSection optimizer;
  CheckpointConfig checkpoint;
  static Fields<SftConfig> fields();
};

// Settings that contradict each other, and what must be set.
Status check(const SftConfig& config);

// What a run is given: to learn from, and, if anything, to be tried on.
struct SftMaterial {
  std::span<const SftExample> examples;
  std::span<const SftExample> heldout = {};
  std::string program = {};  // for the record: name, version and commit
};

struct SftPreview {
  RunOutlook run;
  std::size_t sequences = 0;  // examples that fit
  std::int64_t tokens = 0;    // in them, prompts included
};

// Checks all that run_sft would, and writes nothing.
Result<SftPreview> preview_sft(const SftConfig& config, const SftMaterial& material);

struct SftSummary {
  std::int64_t steps = 0;
  double loss = 0;                   // mean over the run's last steps (up to kRecentSteps)
  double tokens_per_second = 0;      // trained by this process, prompts included
  std::filesystem::path checkpoint;  // a model directory; empty where the run leaves none
  bool is_finished = false;          // false: asked to stop before the last step
};

// Begins the run in config.run.dir or goes on with it; a finished one is left as it is. The
// examples are recorded in the run directory and must be the same when it goes on.
// Every rank of a job calls it with the same.
Result<SftSummary> run_sft(const SftConfig& config, const SftMaterial& material,
                           const StopFlag& stop,
                           distributed::Ranks& ranks = distributed::nobody_else());

}  // namespace tritonsmith::train
