// Evaluates a model on a suite. Each task has one greedy conversation and n sampled ones, of one or
// many turns. Each turn is judged, and the results are rates, pass@k and speed. Every judged turn
// is a line of samples.jsonl, so a killed evaluation resumes at its last turn.
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
  std::string name = "evaluation";  // name in reports
  std::string suite, model;         // for the record
  int samples = 8;                  // drawn a task, beside the greedy one
  generate::SamplingParams sampling;
  Policy policy = Policy::strict;
  Backend backend = Backend::automatic;
  int trials = 3;
  std::vector<std::string> baselines;  // further ways to time the tasks on a GPU
  std::uint64_t seed = 1;
  episode::TurnsConfig turns;
  // The task linter's findings by task id. Findings in verdicts are added.
  std::map<std::string, std::vector<std::string>> marks;
  std::filesystem::path directory;  // gets options.json, samples.jsonl and evaluation.json
  std::string program = {};         // for the record: name, version and commit
};

// The writer that is evaluated, and how it is asked.
struct PromptedWriter {
  generate::Writer& writer;
  std::function<std::vector<text::Message>(const Task&)> prompt;
  text::PromptStyle feedback = text::PromptStyle::full;
};

// Fails when the records cannot be written, or the writer or the gym is broken (a row of
// infrastructure faults, gym/api/fault_streak.h); whatever was judged until then stays in
// samples.jsonl. Fails where the directory holds an evaluation with other options, and names the
// option. A single infrastructure fault that outlasted the gym's retries counts as not
// accepted, is named in `errors`, and is judged anew when the evaluation is run again.
Result<Evaluation> evaluate(std::span<const Task> tasks, const EvaluateOptions& options,
                            const PromptedWriter& prompted, gym::api::Judge& judge);

// The score by which the best turns are chosen for the next prompt: accepted and fast, else the
// stage reached.
double worth_of(const Verdict& verdict);

}  // namespace tritonsmith::eval
