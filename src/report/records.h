// What the report reads: the records of a run directory, and nothing else. A directory may hold
// training steps (steps.jsonl), judged samples (samples.jsonl) and an evaluation (evaluation.json),
// beside them the config and the calls that made them; its subdirectories are read likewise, so
// that a quickstart's directory gives one report.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "base/config.h"
#include "data/evaluation.h"
#include "data/sample.h"

namespace tritonsmith::report {

struct Point {
  double x = 0, y = 0;
};

// One call that trained: a line of calls.jsonl.
struct Call {
  std::string program, at;
  std::int64_t step = 0;  // that it went on after
};

struct RunRecords {
  std::string name;                                   // the directory's path, below the one given
  std::map<std::string, std::vector<Point>> metrics;  // of steps.jsonl: name -> value by step
  std::vector<Sample> samples;                        // the last ones of samples.jsonl
  std::size_t samples_before = 0;                     // those that were passed over
  std::vector<Evaluation> evaluations;
  Settings settings;        // of config.toml
  std::vector<Call> calls;  // oldest first; none of runs that older programs made
};

// Fails with one line when the directory is missing or a record is damaged (a last line that a
// crash cut short is passed over). A directory without records gives empty ones.
Result<RunRecords> read_run(const std::filesystem::path& directory, std::size_t max_samples = 4000);
// The directory itself and those below it that hold records, sorted by when they were made.
Result<std::vector<RunRecords>> read_runs(const std::filesystem::path& directory);

}  // namespace tritonsmith::report
