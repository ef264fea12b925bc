#include "train/run/checkpoint_store.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>

#include "base/file.h"

namespace tritonsmith::train {
namespace {

namespace fs = std::filesystem;

Status sync_path(const fs::path& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return fail_errno(fmt::format("cannot open {}", path.string()));
  const int synced = ::fsync(fd);
  ::close(fd);
  if (synced != 0) return fail_errno(fmt::format("cannot write {}", path.string()));
  return ok();
}

Status sync_tree(const fs::path& directory) {
  TRY_ASSIGN(const auto entries, entries_of(directory));
  for (const fs::path& entry : entries) TRY(sync_path(entry));
  return sync_path(directory);
}

std::optional<std::int64_t> step_of_name(std::string_view name) {
  constexpr std::string_view kPrefix = "step-";
  if (!name.starts_with(kPrefix)) return std::nullopt;
  name.remove_prefix(kPrefix.size());
  std::int64_t step = 0;
  const auto [end, code] = std::from_chars(name.data(), name.data() + name.size(), step);
  if (code != std::errc() || end != name.data() + name.size()) return std::nullopt;
  return step;
}

Status rename_path(const fs::path& from, const fs::path& to) {
  if (::rename(from.c_str(), to.c_str()) != 0)
    return fail_errno(fmt::format("cannot rename {} to {}", from.string(), to.string()));
  return ok();
}

Status remove_tree(const fs::path& path) {
  std::error_code code;
  fs::remove_all(path, code);
  if (code) return fail("cannot remove {}: {}", path.string(), code.message());
  return ok();
}

}  // namespace

Fields<CheckpointConfig> CheckpointConfig::fields() {
  return {field("every", &CheckpointConfig::every,
                "Steps between checkpoints. The last step always gets one. 0: no checkpoints, so a "
                "run that is stopped begins anew.",
                at_least<std::int64_t>(0)),
          field("keep_last", &CheckpointConfig::keep_last,
                "How many of the newest checkpoints are kept.", at_least<std::int64_t>(1)),
          field("keep_every", &CheckpointConfig::keep_every,
                "Also keep checkpoints whose step is a multiple of this. 0: none.",
                at_least<std::int64_t>(0))};
}

Result<CheckpointStore> CheckpointStore::open(const fs::path& directory,
                                              const CheckpointConfig& config) {
  TRY(make_directories(directory));
  TRY_ASSIGN(const auto entries, entries_of(directory));
  for (const fs::path& entry : entries)
    if (const std::string name = entry.filename();
        name.starts_with(".") || name.starts_with("latest.new-"))
      TRY(remove_tree(entry));
  return CheckpointStore(directory, config);
}

fs::path CheckpointStore::path_of(std::int64_t step) const {
  return directory_ / fmt::format("step-{}", step);
}

Result<std::optional<std::int64_t>> CheckpointStore::latest_in(const fs::path& directory) {
  const fs::path pointer = directory / "latest";
  std::error_code ignored;
  if (!fs::exists(pointer, ignored)) return std::optional<std::int64_t>();
  TRY_ASSIGN(std::string name, read_file(pointer));
  while (!name.empty() && name.back() == '\n') name.pop_back();
  const auto step = step_of_name(name);
  if (!step || !fs::is_directory(directory / name, ignored))
    return fail("{} names '{}', which is no checkpoint here; write the name of one into it",
                pointer.string(), name);
  return step;
}

fs::path CheckpointStore::hidden(const Part& part) const {
  return directory_ / fmt::format(".writing-step-{}-{}", part.step, part.rank);
}

Status CheckpointStore::write_part(const Part& part, const Write& write) const {
  const fs::path path = hidden(part);
  TRY(remove_tree(path));
  TRY(make_directories(path));
  Status written = write(path);
  if (written) written = sync_tree(path);
  if (written) return ok();
  std::error_code ignored;
  fs::remove_all(path, ignored);  // gives a full disk its space back
  return tl::unexpected(written.error().within(fmt::format("checkpoint of step {}", part.step)));
}

Status CheckpointStore::save(std::int64_t step, const Write& write) const {
  TRY(write_part({.step = step}, write));
  return publish(step, 1);
}

Status CheckpointStore::publish(std::int64_t step, int ranks) const {
  const fs::path hidden = this->hidden({.step = step});
  for (int rank = 1; rank < ranks; ++rank) {
    const fs::path part = this->hidden({.step = step, .rank = rank});
    TRY_ASSIGN(const auto entries, entries_of(part));
    for (const fs::path& entry : entries) TRY(rename_path(entry, hidden / entry.filename()));
    TRY(remove_tree(part));
  }
  TRY(sync_path(hidden));
  // A run that died between the rename and `latest` leaves a checkpoint to which nothing points.
  const fs::path gone = directory_ / fmt::format(".removed-step-{}", step);
  std::error_code ignored;
  if (fs::exists(path_of(step), ignored)) TRY(rename_path(path_of(step), gone));
  TRY(rename_path(hidden, path_of(step)));
  TRY(sync_path(directory_));
  TRY(write_file_atomic(directory_ / "latest", fmt::format("step-{}\n", step)));
  TRY(remove_tree(gone));
  return prune(step);
}

std::vector<std::int64_t> CheckpointStore::to_remove(std::vector<std::int64_t> steps,
                                                     std::int64_t newest) const {
  std::ranges::sort(steps, std::greater<>());
  std::vector<std::int64_t> removed;
  std::int64_t kept = 0;
  for (const std::int64_t step : steps) {
    const bool is_chosen = step == 0 || (config_.keep_every > 0 && step % config_.keep_every == 0);
    if (step > newest || (kept >= config_.keep_last && !is_chosen))
      removed.push_back(step);
    else
      ++kept;
  }
  return removed;
}

Result<std::vector<std::int64_t>> CheckpointStore::steps() const {
  std::vector<std::int64_t> found;
  TRY_ASSIGN(const auto entries, entries_of(directory_));
  for (const fs::path& entry : entries)
    if (const auto step = step_of_name(entry.filename().string())) found.push_back(*step);
  return found;
}

Status CheckpointStore::prune(std::int64_t newest) const {
  TRY_ASSIGN(const auto found, steps());
  for (const std::int64_t step : to_remove(found, newest)) {
    const fs::path gone = directory_ / fmt::format(".removed-step-{}", step);
    TRY(rename_path(path_of(step), gone));
    TRY(remove_tree(gone));
  }
  return ok();
}

}  // namespace tritonsmith::train
