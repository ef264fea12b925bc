// Gathers one step's experience. Prompts go to the writer, and each finished completion goes on to
// the judge at once. Its verdict comes back as the next turn's feedback (episode/episodes.h). The
// results are in the order of the prompts, whatever finished first. Each request's seed depends on
// the run's seed and the sample's number alone. So the ranks of a job may share a step's samples.
#pragma once

#include <functional>
#include <vector>

#include "data/sample.h"
#include "episode/episodes.h"
#include "train/run/trace.h"

namespace tritonsmith::train {

struct RolloutOptions {
  std::int64_t step = 0;
  // number of earlier batches of prompts in this run, which gives each batch its own seeds
  std::int64_t prompt_batch = 0;
  std::uint64_t seed = 0;
  int samples = 8;          // for each prompt
  int first_group = 0;      // the first prompt's group number within the step
  int rank = 0, ranks = 1;  // the part of the samples that this process samples
  generate::SamplingParams sampling;
  episode::EpisodeOptions episode;
  bool is_traced = false;
};

struct Prompted {
  const Task* task = nullptr;
  std::vector<text::Message> messages;
};

// One turn of one sample.
struct JudgedSample {
  Sample sample;  // without reward and advantage
  Kernel kernel;
};

struct RolloutParts {
  episode::EpisodeParts episode;
  // Reports progress: completions written, verdicts received.
  std::function<void(std::size_t written, std::size_t judged)> on_progress;
  // Receives each group's samples, in the order of the groups, once all of them and of earlier
  // groups are judged. They are then not part of the experience. Null: they are.
  std::function<void(std::vector<JudgedSample> group)> on_group = nullptr;
};

struct Experience {
  std::vector<JudgedSample> samples;  // group by group, sample by sample, turn by turn
  double generate_seconds = 0;  // until the last completion, including judging at the same time
  double wait_seconds = 0;      // from the last completion until the last verdict
  episode::Activity activity;
  std::vector<TraceSpan> spans;  // only if requested

  void append(Experience more);
};

Result<Experience> roll_out(const std::vector<Prompted>& prompts, const RolloutOptions& options,
                            const RolloutParts& parts);

}  // namespace tritonsmith::train
