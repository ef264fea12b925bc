// Evaluation of a model on a suite: for each task one greedy conversation and n sampled ones, of
// one or many turns, each turn judged; rates, pass@k and speed over all of them. Every judged turn
// is a line of samples.jsonl, so an evaluation that was killed goes on where it stopped.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "data/evaluation.h"
#include "data/task.h"
#include "episode/episodes.h"

namespace tritonsmith::eval {

struct EvaluateOptions {
  std::string name = "evaluation";  // what reports call it
  std::string suite, model;         // for the record
  int samples = 8;                  // drawn a task, beside the greedy one
  generate::SamplingParams sampling;
  Policy policy = Policy::strict;
  Backend backend = Backend::automatic;
  int trials = 3;
  std::vector<std::string> baselines;  // that tasks are timed by besides, on a GPU
  std::uint64_t seed = 1;
  episode::TurnsConfig turns;
  // What the task linter has said of tasks, by id; what verdicts say of them is added.
  std::map<std::string, std::vector<std::string>> marks;
  std::filesystem::path directory;  // gets samples.jsonl and evaluation.json
};

// The writer that is evaluated, and how it is asked.
struct Author {
  generate::Writer& writer;
  std::function<std::vector<text::Message>(const Task&)> prompt;
  text::PromptStyle feedback = text::PromptStyle::full;
};

// Fails when the records cannot be written, or the writer or the gym is broken (a row of
// infrastructure faults, gym/client/fault_streak.h); whatever was judged until then stays in
// samples.jsonl. A single infrastructure fault that outlasted the gym's retries counts as not
// accepted, is named in `errors`, and is judged anew when the evaluation is run again.
Result<Evaluation> evaluate(std::span<const Task> tasks, const EvaluateOptions& options,
                            const Author& author, gym::Judge& judge);

// What a turn is worth where the best are shown to the next: accepted and fast, else how far it
// came.
double worth_of(const Verdict& verdict);

}  // namespace tritonsmith::eval
