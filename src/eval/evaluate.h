// Evaluation of a model on a suite: for each task one greedy completion and n sampled ones, each
// judged; rates and pass@k over all of them. Every judged completion is a line of samples.jsonl, so
// an evaluation that was killed goes on where it stopped.
#pragma once

#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "data/evaluation.h"
#include "data/task.h"
#include "gym/client/judge.h"
#include "rollout/generator.h"
#include "text/tokenizer.h"

namespace tritonsmith::eval {

struct EvaluateOptions {
  std::string name = "evaluation";  // what reports call it
  std::string suite, model;         // for the record
  int samples = 8;                  // drawn a task, beside the greedy one
  rollout::SamplingParams sampling;
  Policy policy = Policy::strict;
  Backend backend = Backend::automatic;
  int trials = 3;
  std::uint64_t seed = 1;
  std::filesystem::path directory;  // gets samples.jsonl and evaluation.json
};

// Who writes: the engine, and how text becomes tokens and back.
struct Author {
  rollout::Generator& generator;
  const text::Tokenizer& tokenizer;
  std::function<std::vector<TokenId>(const Task&)> prompt;
};

// Fails when the records cannot be written, or the engine or the gym is broken (a row of
// infrastructure faults, gym/client/fault_streak.h); whatever was judged until then stays in
// samples.jsonl. A single infrastructure fault that outlasted the gym's retries counts as not
// accepted, is named in `errors`, and is judged anew when the evaluation is run again.
Result<Evaluation> evaluate(std::span<const Task> tasks, const EvaluateOptions& options,
                            const Author& author, gym::Judge& judge);

}  // namespace tritonsmith::eval
