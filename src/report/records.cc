#include "report/records.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "base/file.h"
#include "base/jsonl.h"

namespace tritonsmith::report {
namespace {

namespace fs = std::filesystem;

constexpr JsonlOptions kRecords{.last_line = LastLine::may_be_cut_off};

Status read_steps(const fs::path& file, RunRecords& records) {
  const auto read = for_each_json_line(file, kRecords, [&](const JsonLine& line) -> Status {
    const Json& json = line.json;
    if (!json.is_object()) return fail("an object is expected");
    const double step = json.value("step", 0.0);
    for (const auto& [name, value] : json.items())
      if (value.is_number() && name != "step" && name != "schema")
        records.metrics[name].push_back({step, value.get<double>()});
    return ok();
  });
  TRY(read);
  return ok();
}

Status read_samples(const fs::path& file, std::size_t max_samples, RunRecords& records) {
  JsonlOptions newest = kRecords;
  newest.only_last = max_samples;
  TRY_ASSIGN(const std::size_t lines,
             for_each_json_line(file, newest, [&](const JsonLine& line) -> Status {
               TRY_ASSIGN(Sample sample, sample_from_json(line.json));
               records.samples.push_back(std::move(sample));
               return ok();
             }));
  records.samples_before = lines - std::min(lines, max_samples);
  return ok();
}

Status read_calls(const fs::path& file, RunRecords& records) {
  const auto read = for_each_json_line(file, kRecords, [&](const JsonLine& line) -> Status {
    JsonReader reader(line.json);
    Call call{.program = reader.string("program", ""),
              .at = reader.string("at", ""),
              .step = reader.integer("step", 0)};
    TRY(reader.status());
    records.calls.push_back(std::move(call));
    return ok();
  });
  TRY(read);
  return ok();
}

Status read_evaluation(const fs::path& file, RunRecords& records) {
  TRY_ASSIGN(const std::string text, read_file(file));
  auto json = parse_json(text);
  if (!json) return fail("{}: {}", file.string(), json.error().message);
  TRY_ASSIGN(Evaluation evaluation, evaluation_from_json(*json));
  records.evaluations.push_back(std::move(evaluation));
  return ok();
}

// Reads the options under which the searches of a directory ran. The modules are no settings.
Status read_options(const fs::path& file, RunRecords& records) {
  TRY_ASSIGN(const std::string text, read_file(file));
  const auto json = parse_json(text);
  if (!json) return fail("{}: {}", file.string(), json.error().message);
  if (!json->is_object()) return fail("{}: an object is expected", file.string());
  for (const auto& [name, value] : json->items())
    if (name != "module") records.settings.emplace_back(name, value);
  return ok();
}

constexpr const char* kRecordFiles[] = {"steps.jsonl", "samples.jsonl", "evaluation.json",
                                        "search.jsonl"};

bool holds_records(const fs::path& directory) {
  return std::ranges::any_of(kRecordFiles,
                             [&](const char* name) { return fs::exists(directory / name); });
}

// Returns the time at which the run began. A run keeps adding to its directory, and a copy may
// change the order of times. The oldest record is the best estimate.
fs::file_time_type begun_at(const fs::path& directory) {
  fs::file_time_type oldest = fs::file_time_type::max();
  const auto consider = [&](const fs::path& file) {
    if (fs::exists(file)) oldest = std::min(oldest, fs::last_write_time(file));
  };
  consider(directory / "config.toml");
  for (const char* name : kRecordFiles) consider(directory / name);
  return oldest;
}

}  // namespace

Result<RunRecords> read_run(const fs::path& directory, std::size_t max_samples) {
  if (!fs::is_directory(directory)) return fail("{}: no such run directory", directory.string());
  RunRecords records{.name = directory.lexically_normal().string()};
  if (const fs::path file = directory / "steps.jsonl"; fs::exists(file))
    TRY(read_steps(file, records));
  if (const fs::path file = directory / "samples.jsonl"; fs::exists(file))
    TRY(read_samples(file, max_samples, records));
  if (const fs::path file = directory / "evaluation.json"; fs::exists(file))
    TRY(read_evaluation(file, records));
  if (fs::exists(directory / "search.jsonl")) {
    TRY_ASSIGN(records.searches, search::read_searches(directory));
    if (const fs::path file = directory / "options.json"; fs::exists(file))
      TRY(read_options(file, records));
  }
  if (const fs::path file = directory / "calls.jsonl"; fs::exists(file))
    TRY(read_calls(file, records));
  if (const fs::path file = directory / "config.toml"; fs::exists(file)) {
    TRY_ASSIGN(records.settings, settings_from_toml_file(file));
  }
  return records;
}

Result<std::vector<RunRecords>> read_runs(const fs::path& directory) {
  if (!fs::is_directory(directory)) return fail("{}: no such run directory", directory.string());
  std::vector<std::pair<fs::file_time_type, fs::path>> found;
  const auto consider = [&](const fs::path& path) {
    if (holds_records(path)) found.emplace_back(begun_at(path), path);
  };
  consider(directory);
  std::error_code code;
  for (const auto& entry : fs::directory_iterator(directory, code))
    if (entry.is_directory(code)) consider(entry.path());
  std::ranges::sort(found);
  if (found.empty())
    return fail("{}: it holds no records of a run; a report takes folders with {}",
                directory.string(), fmt::join(kRecordFiles, ", "));
  std::vector<RunRecords> runs;
  for (const auto& [time, path] : found) {
    TRY_ASSIGN(RunRecords records, read_run(path));
    if (path != directory) records.name = path.lexically_relative(directory).string();
    runs.push_back(std::move(records));
  }
  return runs;
}

}  // namespace tritonsmith::report
