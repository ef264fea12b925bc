// One step's experience: prompts go to the generator, finished completions at once on to the judge,
// so that both work side by side; what comes back is in the order of the prompts, whatever finished
// first. Each request's seed depends on the run's seed and the sample's number alone.
#pragma once

#include <functional>
#include <vector>

#include "data/kernel.h"
#include "data/sample.h"
#include "gym/client/fault_streak.h"
#include "gym/client/judge.h"
#include "rollout/generator.h"
#include "text/tokenizer.h"

namespace tritonsmith::train {

struct RolloutOptions {
  std::int64_t step = 0;
  std::uint64_t seed = 0;
  int samples = 8;                   // for each prompt
  rollout::SamplingParams sampling;  // stop tokens included
  Policy policy = Policy::strict;
  Backend backend = Backend::automatic;
  int trials = 3;
  std::chrono::seconds patience{600};
};

struct Prompted {
  const Task* task = nullptr;
  std::vector<TokenId> tokens;
};

struct JudgedSample {
  Sample sample;  // reward and advantage are not there yet
  Kernel kernel;
};

struct RolloutParts {
  rollout::Generator& generator;
  gym::Judge& judge;
  gym::FaultStreak& faults;  // outlives the step: a row of faults may span several
  const text::Tokenizer& tokenizer;
  // How far it has come: completions written, verdicts taken.
  std::function<void(std::size_t written, std::size_t judged)> on_progress;
};

struct Experience {
  std::vector<JudgedSample> samples;  // [prompts * samples], group by group
  double generate_seconds = 0;        // until the last completion, judging alongside included
  double wait_seconds = 0;            // from then on, until the last verdict
};

Result<Experience> roll_out(const std::vector<Prompted>& prompts, const RolloutOptions& options,
                            const RolloutParts& parts);

}  // namespace tritonsmith::train
