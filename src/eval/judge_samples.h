// Judges a folder of samples (samples_folder.h), and writes the same records as an evaluation of a
// model, and KernelBench's eval_results.json. Every verdict is a line of samples.jsonl at once. So
// a call that was killed is gone on with, and a sample whose text is the same is never judged again.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "data/evaluation.h"
#include "data/verdict.h"
#include "eval/samples_folder.h"
#include "gym/api/judge.h"

namespace tritonsmith::eval {

struct JudgeSamplesOptions {
  std::string name = "evaluation";  // name in reports
  std::string suite, folder;        // for the record
  Policy policy = Policy::strict;
  Backend backend = Backend::automatic;
  int trials = 3;
  std::vector<std::string> baselines = {};  // further ways to time the tasks on a GPU
  // The task linter's findings by task id. Findings in verdicts are added.
  std::map<std::string, std::vector<std::string>> marks = {};
  // Gets options.json, samples.jsonl, evaluation.json and eval_results.json. With samples of
  // several levels, each level has an eval_results_level_N.json instead.
  std::filesystem::path directory;
  std::string program = {};  // for the record: name, version and commit
};

// A sample about which nothing is known, and why. KernelBench's files leave it out.
struct WithoutResult {
  std::string file;
  std::string reason;
  Fault fault = Fault::none;  // infrastructure: it is judged again by the next call
};

struct JudgedSamples {
  std::optional<Evaluation> evaluation;  // of all samples with a verdict; absent without any
  std::vector<WithoutResult> without_result;
  Status gym;  // the error that ended the judging early
};

// Judges the samples that have no verdict in the directory. Each must have its task. Fails if the
// records cannot be written, or belong to other options. If the gym breaks, the results until then
// are written, and `gym` is its error.
Result<JudgedSamples> judge_samples(std::span<const FolderSample> samples,
                                    const JudgeSamplesOptions& options, gym::api::Judge& judge);

}  // namespace tritonsmith::eval
