// Supervised fine-tuning: the loop from examples to a model. A step takes examples in a shuffled
// order until its token budget is full, and makes one update from them.
#pragma once

#include <filesystem>
#include <span>
#include <string>

#include "model/lora/lora.h"
#include "train/config/foreign_names.h"
#include "train/config/sections.h"
#include "train/run/checkpoint_store.h"
#include "train/run/stop.h"
#include "train/run/training_run.h"
#include "train/sft/sft_examples.h"

namespace tritonsmith::train {

struct SftDataSection {
  std::string examples;
  std::string heldout;             // empty: no held-out examples
  std::int64_t heldout_every = 0;  // steps; 0: before the first step and after the last
  std::int64_t step_tokens = 2048;
  std::int64_t max_tokens = 1024;
  static Fields<SftDataSection> fields();
};

struct SftConfig {
  RunSection run;
  // No sampler has to agree with the trainer here, and bfloat16 needs no conversions in the
  // backward.
  ModelSection model = {.precision = model::Precision::bfloat16};
  model::LoraConfig lora;
  SftDataSection data;
  OptimizerSection optimizer;
  CheckpointConfig checkpoint;
  static Fields<SftConfig> fields();
  // Says what a name of TRL or verl is called here.
  static std::string hint(std::string_view wanted, const std::vector<std::string>& known) {
    return foreign_name_hint(wanted, known);
  }
};

// Refuses contradictory settings and missing ones.
Status check(const SftConfig& config, ModelLocation location = ModelLocation::here);

// The data of a run: examples to learn from, and optional held-out ones.
struct SftMaterial {
  std::span<const SftExample> examples;
  std::span<const SftExample> heldout = {};
  std::string program = {};  // for the record: name, version and commit
};

struct SftPreview {
  RunOutlook run;
  std::size_t sequences = 0;  // examples that fit
  std::int64_t tokens = 0;    // tokens in these sequences, prompts included
};

// Makes all checks of run_sft, and writes nothing.
Result<SftPreview> preview_sft(const SftConfig& config, const SftMaterial& material);

struct SftSummary {
  std::int64_t steps = 0;
  double loss = 0;                   // mean over the last steps (at most 20 of this process)
  double tokens_per_second = 0;      // trained by this process, prompts included
  std::filesystem::path checkpoint;  // a model directory; empty if the run has no checkpoints
  bool is_finished = false;          // false: it was asked to stop before the last step
};

// Begins the run in config.run.dir or resumes it; a finished run is left unchanged. The examples
// are recorded in the run directory and must be the same on resuming. Every rank of a job calls it
// with the same arguments.
Result<SftSummary> run_sft(const SftConfig& config, const SftMaterial& material,
                           const StopFlag& stop,
                           distributed::Ranks& ranks = distributed::nobody_else());

}  // namespace tritonsmith::train
