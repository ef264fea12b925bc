// Reads the input of the report: the records of a run directory. A directory may hold training
// steps (steps.jsonl), judged samples (samples.jsonl), an evaluation (evaluation.json) and searches
// (search.jsonl). Subdirectories are read too, so that the directory of a quickstart gives one
// report.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "base/config.h"
#include "data/evaluation.h"
#include "data/sample.h"
#include "search/recorded_search.h"

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
  std::string name;  // the directory's path, relative to the given directory
  std::map<std::string, std::vector<Point>> metrics;  // from steps.jsonl: name -> value by step
  std::vector<Sample> samples;                        // the last ones of samples.jsonl
  std::size_t samples_before = 0;                     // those that were passed over
  std::vector<Evaluation> evaluations;
  Settings settings;        // of config.toml, or of a search's options.json
  std::vector<Call> calls;  // oldest first; none of runs that older programs made
  std::vector<search::RecordedSearch> searches;
};

// Fails with one line if the directory is missing or a record is damaged. A last line that a crash
// cut short is skipped. A directory without records gives empty ones.
Result<RunRecords> read_run(const std::filesystem::path& directory, std::size_t max_samples = 4000);
// Reads the directory and all directories below it that hold records, sorted by creation time.
Result<std::vector<RunRecords>> read_runs(const std::filesystem::path& directory);

}  // namespace tritonsmith::report
