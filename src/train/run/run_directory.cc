#include "train/run/run_directory.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <set>
#include <utility>

#include "base/check.h"
#include "base/file.h"
#include "base/jsonl.h"
#include "base/log.h"
#include "base/utc_time.h"
#include "gym/api/judge_files.h"
#include "train/run/tensorboard.h"

namespace tritonsmith::train {
namespace {

namespace fs = std::filesystem;

constexpr const char* kEventsFile = "events.out.tfevents.0.tritonsmith";

double wall_seconds() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

Result<int> lock_file(const fs::path& path, int flags) {
  const int fd = ::open((path / ".lock").c_str(), flags | O_CLOEXEC, 0644);
  if (fd < 0) return fail_errno(fmt::format("cannot write in {}", path.string()));
  if (::flock(fd, LOCK_EX | LOCK_NB) == 0) return fd;
  ::close(fd);
  return fail(
      "{}: another process is training in this directory; wait for it or choose another "
      "run.dir",
      path.string());
}

// Recognises a file that a process leaves if it is killed in write_file_atomic.
bool is_half_written(const std::string& name) { return name.find(".new-") != std::string::npos; }

// Recognises the judge's files. The judge may write them before the run begins.
bool is_of_the_judge(const std::string& name) { return gym::api::is_judge_file(name); }

// Recognises files that a run may leave before its first step is done.
bool is_of_unbegun_run(const std::string& name) {
  static const std::set<std::string, std::less<>> known = {
      "config.toml",      "checkpoints", ".lock",          "steps.jsonl",
      "samples.jsonl",    "tasks.jsonl", "examples.jsonl", "heldout.jsonl",
      "references.jsonl", kEventsFile,   "trace.json",     "calls.jsonl"};
  return known.contains(name.substr(0, name.find(".new-"))) || is_of_the_judge(name);
}

bool is_there(const fs::path& path) {
  std::error_code ignored;
  return fs::exists(path, ignored);
}
bool has_config(const fs::path& path) { return is_there(path / "config.toml"); }

Status refuse_foreign_files(const fs::path& path) {
  const auto refuse = [&](const std::string& why) {
    return fail("{} exists and is no run directory ({}); set run.dir to a new directory",
                path.string(), why);
  };
  if (has_config(path)) {
    const auto there = settings_from_toml_file(path / "config.toml");
    if (!there || std::ranges::none_of(*there, [](const auto& s) { return s.first == "run.dir"; }))
      return refuse("its config.toml is not one of ours");
  }
  std::error_code code;
  for (fs::directory_iterator at(path, code), end; !code && at != end; at.increment(code))
    if (const std::string name = at->path().filename(); !is_of_unbegun_run(name))
      return refuse(fmt::format("it holds {}", name));
  if (code) return fail("cannot read {}: {}", path.string(), code.message());
  return ok();
}

bool has_steps(const fs::path& path) {
  std::error_code code;
  return has_config(path) && is_there(path / "steps.jsonl") &&
         fs::file_size(path / "steps.jsonl", code) > 0;
}

Status remove_entries(const fs::path& path, bool (*is_to_go)(const std::string& name)) {
  std::error_code code;
  TRY_ASSIGN(const auto entries, entries_of(path));
  for (const fs::path& entry : entries) {
    if (!is_to_go(entry.filename().string())) continue;
    fs::remove_all(entry, code);
    if (code) return fail("cannot remove {}: {}", entry.string(), code.message());
  }
  return ok();
}

// A resumed run may change these settings: its folder, its judge and its charts.
bool may_differ(std::string_view name) {
  return name == "run.dir" || name == "judge.url" || name == "judge.token_file" ||
         name == "trace.steps";
}

// A resumed run may have more steps than before.
bool is_raised(std::string_view name, const Json& there, const Json& here) {
  return name == "run.steps" && there.is_number() && here.is_number() && here > there;
}

Status compare_with(const fs::path& path, const std::string& command, const Settings& config) {
  TRY_ASSIGN(const Settings there, settings_from_toml_file(path / "config.toml"));
  for (const auto& [name, value] : config) {
    if (may_differ(name)) continue;
    const auto known =
        std::ranges::find_if(there, [&, key = name](const auto& s) { return s.first == key; });
    if (known == there.end() || known->second == value) continue;
    if (is_raised(name, known->second, value)) continue;
    return fail(
        "{} holds a run with another config ({} is {} there, {} here); to go on with that "
        "run: tritonsmith {} {}; for a new one set run.dir to another directory",
        path.string(), name, to_line(known->second), to_line(value), command, path.string());
  }
  return ok();
}

// Records the new number of steps, so that the next call need not name it again. All other settings
// stay as they are recorded, in the order of the config's sections. Settings with a name of an older
// version come last.
Status record_raised_steps(const fs::path& path, const Settings& config) {
  TRY_ASSIGN(const Settings there, settings_from_toml_file(path / "config.toml"));
  Settings recorded;
  bool is_changed = false;
  for (const auto& [name, wanted] : config) {
    const auto known =
        std::ranges::find_if(there, [&, key = name](const auto& s) { return s.first == key; });
    if (known == there.end()) continue;  // the run's program did not have this setting
    const bool raised = is_raised(name, known->second, wanted);
    if (raised)
      LOG("{}: {} is {} from here on; it was {}", path.string(), name, to_line(wanted),
          to_line(known->second));
    is_changed = is_changed || raised;
    recorded.emplace_back(name, raised ? wanted : known->second);
  }
  for (const auto& setting : there)
    if (std::ranges::find(config, setting.first, &Settings::value_type::first) == config.end())
      recorded.push_back(setting);
  return is_changed ? write_file_atomic(path / "config.toml", toml_from_settings(recorded)) : ok();
}

}  // namespace

Json to_json(const RecordSizes& sizes) {
  return {{"steps", sizes.steps}, {"samples", sizes.samples}, {"events", sizes.events}};
}

Result<RecordSizes> record_sizes_from_json(const Json& json) {
  JsonReader reader(json);
  const auto size = [&](std::string_view name) {
    return static_cast<std::uint64_t>(std::max<std::int64_t>(reader.integer(name), 0));
  };
  RecordSizes sizes{.steps = size("steps"), .samples = size("samples"), .events = size("events")};
  TRY(reader.status());
  return sizes;
}

Result<bool> RunDirectory::would_go_on(const fs::path& path, const std::string& command,
                                       const Settings& config) {
  std::error_code code;
  if (!is_there(path)) return false;
  if (!fs::is_directory(path, code))
    return fail("{} is in the way: a directory is needed there; set run.dir to another path",
                path.string());
  if (is_there(path / ".lock")) {
    TRY_ASSIGN(const int lock, lock_file(path, O_RDONLY));
    ::close(lock);
  }
  if (has_steps(path)) {
    TRY(compare_with(path, command, config));
    return true;
  }
  TRY(refuse_foreign_files(path));
  return has_config(path) && compare_with(path, command, config).has_value();
}

Result<RunDirectory> RunDirectory::open(const fs::path& path, const std::string& command,
                                        const Settings& config) {
  TRY(would_go_on(path, command, config));  // it refuses before anything is written
  TRY(make_directories(path));
  TRY_ASSIGN(const int lock, lock_file(path, O_RDWR | O_CREAT));
  RunDirectory run(path, lock);
  const bool is_same = has_config(path) && compare_with(path, command, config).has_value();
  if (!is_same && !has_steps(path))
    TRY(remove_entries(
        path, [](const std::string& name) { return name != ".lock" && !is_of_the_judge(name); }));
  TRY(remove_entries(path, is_half_written));
  if (!has_config(path)) TRY(write_file_atomic(path / "config.toml", toml_from_settings(config)));
  TRY(record_raised_steps(path, config));
  TRY(make_directories(run.checkpoints()));
  return run;
}

RunDirectory::RunDirectory(fs::path path, int lock_fd)
    : path_(std::move(path)), lock_fd_(lock_fd) {}
RunDirectory::RunDirectory(RunDirectory&& other) noexcept
    : path_(std::move(other.path_)),
      lock_fd_(std::exchange(other.lock_fd_, -1)),
      records_(std::move(other.records_)) {}
RunDirectory& RunDirectory::operator=(RunDirectory&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(lock_fd_, other.lock_fd_);
  std::swap(records_, other.records_);
  return *this;
}
RunDirectory::~RunDirectory() {
  if (lock_fd_ >= 0) ::close(lock_fd_);
}

RunDirectory RunDirectory::of_first_rank(fs::path path) { return {std::move(path), -1}; }

Status RunDirectory::open_records(const RecordSizes& kept) {
  if (!is_ours()) return ok();
  CHECK(!records_, "the records are open already");
  TRY_ASSIGN(RecordFile steps, RecordFile::open(path_ / "steps.jsonl", kept.steps));
  TRY_ASSIGN(RecordFile samples, RecordFile::open(path_ / "samples.jsonl", kept.samples));
  TRY_ASSIGN(RecordFile events, RecordFile::open(path_ / kEventsFile, kept.events));
  if (events.size() == 0) TRY(events.append(event_file_head(wall_seconds())));
  records_.emplace(Records{
      .steps = std::move(steps), .samples = std::move(samples), .events = std::move(events)});
  return ok();
}

Status RunDirectory::append(const StepRecord& record) {
  if (!is_ours()) return ok();
  CHECK(records_, "open_records comes first");
  TRY(records_->steps.append_line(to_line(to_json(record))));
  return records_->events.append(scalar_record(wall_seconds(), record.step, record.metrics));
}

Status RunDirectory::append(const Sample& sample) {
  if (!is_ours()) return ok();
  CHECK(records_, "open_records comes first");
  return records_->samples.append_line(to_line(to_json(sample)));
}

Status RunDirectory::append_text(std::int64_t step, const std::string& name,
                                 std::string_view markdown) {
  if (!is_ours()) return ok();
  CHECK(records_, "open_records comes first");
  return records_->events.append(text_record(wall_seconds(), step, name, markdown));
}

Status RunDirectory::append_call(const std::string& command, const std::string& program,
                                 std::int64_t step) const {
  if (!is_ours()) return ok();
  TRY_ASSIGN(LineWriter calls, LineWriter::open(path_ / "calls.jsonl"));
  return calls.append(to_line({{"schema", 1},
                               {"command", command},
                               {"program", program},
                               {"at", utc_time()},
                               {"step", step}}));
}

Result<std::deque<Metrics>> RunDirectory::last_steps(std::size_t count) const {
  std::deque<Metrics> steps;
  if (!is_ours()) return steps;
  CHECK(records_, "open_records comes first");
  TRY_ASSIGN(auto records, read_jsonl(path_ / "steps.jsonl", step_from_json, {.only_last = count}));
  for (StepRecord& record : records) steps.push_back(std::move(record.metrics));
  return steps;
}

Result<RecordSizes> RunDirectory::sync_records() {
  if (!is_ours()) return RecordSizes{};
  CHECK(records_, "open_records comes first");
  TRY(records_->steps.sync());
  TRY(records_->samples.sync());
  TRY(records_->events.sync());
  return RecordSizes{.steps = records_->steps.size(),
                     .samples = records_->samples.size(),
                     .events = records_->events.size()};
}

Status RunDirectory::keep_data(const std::string& name, std::string_view bytes) const {
  if (!is_ours()) return ok();
  const fs::path file = path_ / name;
  if (!is_there(file) || !has_steps(path_)) return write_file_atomic(file, bytes);
  TRY_ASSIGN(const std::string kept, read_file(file));
  if (kept != bytes)
    return fail(
        "{} holds other data than this run is given now; go on with the same data, or set "
        "run.dir to another directory",
        file.string());
  return ok();
}

}  // namespace tritonsmith::train
