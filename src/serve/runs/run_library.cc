#include "serve/runs/run_library.h"

#include <algorithm>
#include <chrono>

#include "base/file.h"
#include "base/jsonl.h"

namespace tritonsmith::serve::runs {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostRows = 5000;   // of a run's samples
constexpr std::size_t kMostPoints = 500;  // of a curve
constexpr std::size_t kMostRuns = 1000;
constexpr const char* kSteps = "steps.jsonl";
constexpr const char* kSamples = "samples.jsonl";
constexpr const char* kEvaluation = "evaluation.json";

bool holds_records(const fs::path& folder) {
  return std::ranges::any_of(std::initializer_list<const char*>{kSteps, kSamples, kEvaluation},
                             [&](const char* name) {
                               std::error_code ignored;
                               return fs::exists(folder / name, ignored);
                             });
}

// Returns when the newest of the records was written, in milliseconds since 1970.
std::int64_t changed_ms(const fs::path& folder) {
  std::int64_t newest = 0;
  for (const char* name : {kSteps, kSamples, kEvaluation}) {
    std::error_code error;
    const auto time = fs::last_write_time(folder / name, error);
    if (error) continue;
    const auto since = std::chrono::file_clock::to_sys(time).time_since_epoch();
    newest = std::max<std::int64_t>(
        newest, std::chrono::duration_cast<std::chrono::milliseconds>(since).count());
  }
  return newest;
}

// Keeps about kMostPoints of a curve, the last one among them.
Json thinned(const Json& points) {
  const std::size_t stride = (points.size() + kMostPoints - 1) / kMostPoints;
  if (stride <= 1) return points;
  Json kept = Json::array();
  for (std::size_t i = (points.size() - 1) % stride; i < points.size(); i += stride)
    kept.push_back(points[i]);
  return kept;
}

// Returns each number of steps.jsonl as [[step, value], ...].
Result<Json> curves_of(const fs::path& folder) {
  Json curves = Json::object();
  std::error_code ignored;
  if (!fs::exists(folder / kSteps, ignored)) return curves;
  TRY(for_each_json_line(folder / kSteps, {.last_line = LastLine::may_be_cut_off},
                         [&](const JsonLine& line) -> Status {
                           if (!line.json.is_object()) return fail("an object is expected");
                           const Json step = line.json.value("step", Json(0));
                           for (const auto& [name, value] : line.json.items())
                             if (value.is_number() && name != "step" && name != "schema")
                               curves[name].push_back({step, value});
                           return ok();
                         }));
  for (Json& points : curves) points = thinned(points);
  return curves;
}

Json to_json(const SampleRow& row, std::size_t number) {
  Json json = {{"number", number},     {"step", row.step},     {"group", row.group},
               {"member", row.member}, {"turn", row.turn},     {"task", row.task},
               {"result", row.result}, {"reward", row.reward}, {"tokens", row.tokens}};
  if (row.speedup) json["speedup"] = *row.speedup;
  return json;
}

Json rows_of(const SampleIndex& index) {
  const auto& rows = index.rows();
  Json json = Json::array();
  for (std::size_t i = rows.size() - std::min(rows.size(), kMostRows); i < rows.size(); ++i)
    json.push_back(to_json(rows[i], i));
  return json;
}

std::string text_of(const fs::path& file) {
  const auto text = read_file(file);
  return text ? *text : "";
}

}  // namespace

Result<std::unique_ptr<RunLibrary>> RunLibrary::open(const fs::path& directory, Words words) {
  std::error_code ignored;
  if (!fs::is_directory(directory, ignored)) return fail("{}: no such folder", directory.string());
  return std::unique_ptr<RunLibrary>(new RunLibrary(directory, std::move(words)));
}

Result<std::map<std::string, fs::path>> RunLibrary::find() const {
  std::map<std::string, fs::path> found;
  const std::string own = fs::absolute(directory_).lexically_normal().filename();
  if (holds_records(directory_)) found.emplace(own.empty() ? "runs" : own, directory_);
  std::error_code error;
  constexpr auto options = fs::directory_options::skip_permission_denied;
  fs::recursive_directory_iterator at(directory_, options, error);
  for (; !error && at != fs::recursive_directory_iterator(); at.increment(error)) {
    std::error_code ignored;
    if (!at->is_directory(ignored) || at->is_symlink(ignored)) continue;
    const std::string name = at->path().filename();
    if (name == "checkpoints" || name == "kernels" || name.starts_with('.'))
      at.disable_recursion_pending();
    else if (holds_records(at->path()) && found.size() < kMostRuns)
      found.emplace(at->path().lexically_relative(directory_), at->path());
  }
  if (error) return fail("{}: {}", directory_.string(), error.message());
  return found;
}

Result<std::optional<fs::path>> RunLibrary::folder_of(const std::string& name) const {
  TRY_ASSIGN(const auto found, find());
  const auto at = found.find(name);
  return at == found.end() ? std::nullopt : std::optional(at->second);
}

Result<SampleIndex*> RunLibrary::index_of(const fs::path& folder) {
  SampleIndex& index = indices_.try_emplace(folder, folder / kSamples).first->second;
  std::error_code ignored;
  if (fs::exists(folder / kSamples, ignored)) TRY(index.update());
  return &index;
}

Result<Json> RunLibrary::list() {
  const std::lock_guard lock(mutex_);
  TRY_ASSIGN(const auto found, find());
  std::vector<Json> runs;
  for (const auto& [name, folder] : found) {
    std::error_code ignored;
    runs.push_back({{"name", name},
                    {"steps", fs::exists(folder / kSteps, ignored)},
                    {"samples", fs::exists(folder / kSamples, ignored)},
                    {"evaluation", fs::exists(folder / kEvaluation, ignored)},
                    {"changed_ms", changed_ms(folder)}});
  }
  std::ranges::stable_sort(runs, std::greater(),
                           [](const Json& run) { return run["changed_ms"].get<std::int64_t>(); });
  return Json{{"runs", std::move(runs)}};
}

Result<std::optional<Json>> RunLibrary::show(const std::string& name) {
  const std::lock_guard lock(mutex_);
  TRY_ASSIGN(const auto folder, folder_of(name));
  if (!folder) return std::nullopt;
  TRY_ASSIGN(Json curves, curves_of(*folder));
  TRY_ASSIGN(const SampleIndex* index, index_of(*folder));
  const auto evaluation = parse_json(text_of(*folder / kEvaluation));
  Json rows = rows_of(*index);
  return Json{{"name", name},
              {"config", text_of(*folder / "config.toml")},
              {"curves", std::move(curves)},
              {"evaluation", evaluation ? *evaluation : Json()},
              {"left_out", index->rows().size() - rows.size()},
              {"samples", std::move(rows)}};
}

Result<std::optional<Json>> RunLibrary::conversation(const std::string& name, std::size_t sample) {
  const std::lock_guard lock(mutex_);
  TRY_ASSIGN(const auto folder, folder_of(name));
  if (!folder) return std::nullopt;
  TRY_ASSIGN(const SampleIndex* index, index_of(*folder));
  if (sample >= index->rows().size()) return std::nullopt;
  Json turns = Json::array();
  for (const std::size_t number : index->conversation_of(sample)) {
    TRY_ASSIGN(const Sample each, index->read(index->rows()[number]));
    turns.push_back({{"row", to_json(index->rows()[number], number)},
                     {"prompt", each.prompt},
                     {"reasoning", each.completion.reasoning},
                     {"text", each.completion.text},
                     {"finish", name_of(each.completion.finish)},
                     {"kernel", each.kernel},
                     {"verdict", tritonsmith::to_json(each.verdict)},
                     {"words", words_(each.verdict)},
                     {"reward", tritonsmith::to_json(each.reward)},
                     {"advantage", each.advantage}});
  }
  return Json{{"turns", std::move(turns)}};
}

}  // namespace tritonsmith::serve::runs
