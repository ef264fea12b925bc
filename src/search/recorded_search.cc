#include "search/recorded_search.h"

#include <map>

#include "base/file.h"
#include "base/jsonl.h"
#include "search/search.h"

namespace tritonsmith::search {
namespace {

namespace fs = std::filesystem;

constexpr JsonlOptions kRecords{.last_line = LastLine::may_be_cut_off};

// While a search reads its record, it may conclude an answer without a kernel. A reader's search must
// not add such events to the record.
class NoLog : public SearchLog {
 public:
  Status append(const Json& /*event*/) override { return ok(); }
};

struct Events {
  std::string task;
  std::vector<Json> events;
};

Result<std::vector<Events>> events_by_task(const fs::path& file) {
  std::vector<Events> all;
  std::map<std::string, std::size_t> place;  // in `all`
  const auto read = for_each_json_line(file, kRecords, [&](const JsonLine& line) -> Status {
    JsonReader reader(line.json);
    const std::string task = reader.string("task");
    TRY(reader.status());
    const auto [at, is_new] = place.emplace(task, all.size());
    if (is_new) all.push_back({.task = task, .events = {}});
    all[at->second].events.push_back(line.json);
    return ok();
  });
  TRY(read);
  return all;
}

Result<std::map<std::string, std::string>> sources_by_task(const fs::path& file) {
  std::map<std::string, std::string> sources;
  if (!fs::exists(file)) return sources;
  TRY_ASSIGN(const auto tasks, read_jsonl(file, task_from_json, kRecords));
  for (const Task& task : tasks) sources.emplace(task.id, task.source);
  return sources;
}

}  // namespace

Status keep_tasks(const fs::path& folder, std::span<const Task> tasks) {
  std::string lines;
  for (const Task& task : tasks) lines += to_line(to_json(task)) + "\n";
  return write_file_atomic(folder / "tasks.jsonl", lines);
}

Result<std::vector<RecordedSearch>> read_searches(const fs::path& folder) {
  const fs::path file = folder / "search.jsonl";
  TRY_ASSIGN(const auto all, events_by_task(file));
  TRY_ASSIGN(auto sources, sources_by_task(folder / "tasks.jsonl"));
  std::vector<RecordedSearch> searches;
  for (const Events& each : all) {
    NoLog log;
    Search search({.task = {.id = each.task}}, log);
    TRY_WITHIN(fmt::format("{}: {}", file.string(), each.task), search.resume(each.events));
    searches.push_back({.task = each.task,
                        .source = sources[each.task],
                        .history = search.history(),
                        .why_over = search.why_over()});
  }
  return searches;
}

}  // namespace tritonsmith::search
