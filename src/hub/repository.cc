#include "hub/repository.h"

#include <algorithm>
#include <mutex>
#include <numeric>
#include <thread>

#include "base/file.h"
#include "base/log.h"
#include "hub/blob_file.h"
#include "hub/cache_lock.h"
#include "hub/hub_connection.h"

namespace tritonsmith::hub {
namespace {

namespace fs = std::filesystem;

constexpr double kMegabyte = 1e6;

std::int64_t bytes_of(const std::vector<RemoteFile>& files) {
  return std::accumulate(files.begin(), files.end(), std::int64_t{0},
                         [](std::int64_t sum, const RemoteFile& each) { return sum + each.size; });
}

std::string plural_of(RepositoryKind kind) {
  return kind == RepositoryKind::model ? "models" : "datasets";
}

std::string shown(const HubName& name) {
  return name.revision == "main" ? name.id : fmt::format("{}@{}", name.id, name.revision);
}

}  // namespace

// One call of fetch(): threads take the files one after the other.
class Repository::Fetching {
 public:
  Fetching(const Repository& repository, std::vector<RemoteFile> files)
      : repository_(repository),
        files_(std::move(files)),
        progress_(fmt::format("fetching {} (MB)", shown(repository.name_)), megabytes(files_)) {}

  Status run() {
    std::vector<std::jthread> threads;
    const std::size_t count = std::min<std::size_t>(
        files_.size(), static_cast<std::size_t>(repository_.settings_.downloads));
    for (std::size_t i = 0; i < count; ++i) threads.emplace_back([this] { work(); });
    threads.clear();  // joins them
    return status_;
  }

 private:
  // Counts the bytes of all threads while they arrive.
  class Target : public ByteTarget {
   public:
    Target(Fetching& fetching, BlobFile& blob, const RemoteFile& file)
        : fetching_(fetching), blob_(blob), file_(file) {
      fetching_.count(blob_.size(), file_);
    }
    std::int64_t position() const override { return blob_.size(); }
    Status restart() override {
      fetching_.count(-blob_.size(), file_);
      return blob_.restart();
    }
    Status take(std::string_view bytes) override {
      TRY(blob_.append(bytes));
      fetching_.count(static_cast<std::int64_t>(bytes.size()), file_);
      return fetching_.go_on();
    }

   private:
    Fetching& fetching_;
    BlobFile& blob_;
    const RemoteFile& file_;
  };

  static std::size_t megabytes(const std::vector<RemoteFile>& files) {
    return static_cast<std::size_t>(static_cast<double>(bytes_of(files)) / kMegabyte + 1);
  }

  void work() {
    HubConnection connection(repository_.settings_);
    while (const RemoteFile* file = next()) {
      const Status fetched = fetch(*file, connection);
      const std::lock_guard lock(mutex_);
      if (!fetched && status_) status_ = fetched;
    }
  }

  const RemoteFile* next() {
    const std::lock_guard lock(mutex_);
    return status_ && at_ < files_.size() ? &files_[at_++] : nullptr;
  }

  // Fails when another file has failed, so that all threads end.
  Status go_on() {
    const std::lock_guard lock(mutex_);
    return status_;
  }

  void count(std::int64_t bytes, const RemoteFile& file) {
    const std::lock_guard lock(mutex_);
    done_ += bytes;
    progress_.advance_to(static_cast<std::size_t>(static_cast<double>(done_) / kMegabyte),
                         file.path);
  }

  Status fetch(const RemoteFile& file, HubConnection& connection) {
    const fs::path blob = repository_.layout_.blob(file);
    TRY(make_directories(blob.parent_path()));
    TRY_ASSIGN(const auto lock, CacheLock::take(repository_.layout_.lock(file), [&] {
                 LOG("{}: another process fetches it; waiting", file.path);
               }));
    std::error_code error;
    if (fs::exists(blob, error))
      count(file.size, file);
    else
      TRY(download(file, blob, connection));
    return repository_.layout_.link(repository_.commit_, file);
  }

  // A part from an earlier time may be damaged, so a wrong checksum has a second try.
  Status download(const RemoteFile& file, const fs::path& blob, HubConnection& connection) {
    for (int attempt = 1;; ++attempt) {
      TRY_ASSIGN(BlobFile content, BlobFile::open(blob, file));
      Target target(*this, content, file);
      const bool had_a_part = content.size() > 0;
      TRY(connection.download(repository_.file_path(file), shown(repository_.name_), file.size,
                              target));
      const Status finished = content.finish();
      if (finished || !had_a_part || attempt > 1) return finished;
      LOG("{}; fetching it anew", finished.error().message);
      count(-content.size(), file);
    }
  }

  const Repository& repository_;
  const std::vector<RemoteFile> files_;
  std::mutex mutex_;  // guards the members below
  std::size_t at_ = 0;
  std::int64_t done_ = 0;
  Status status_ = ok();
  Progress progress_;
};

Result<Repository> Repository::open(const HubSettings& settings, RepositoryKind kind,
                                    const HubName& name) {
  Repository repository(settings, kind, name);
  if (settings.is_offline) {
    repository.unreachable_ = "HF_HUB_OFFLINE is set";
    TRY(repository.use_cache());
    return repository;
  }
  const auto known = repository.layout_.commit_of(name.revision);
  std::error_code error;
  const bool is_cached = known && fs::is_directory(repository.layout_.snapshot(*known), error);
  // If there is a copy, the program does not wait long for a hub that is away.
  if (is_cached) repository.settings_.attempts = 1;
  const Status found = repository.look_up();
  repository.settings_.attempts = settings.attempts;
  if (found) return repository;
  if (!is_cached || found.error().kind != ErrorKind::fault) return tl::unexpected(found.error());
  LOG("{}; going on with commit {} of the cache", found.error().message, *known);
  repository.unreachable_ = found.error().message;
  TRY(repository.use_cache());
  return repository;
}

// A commit never changes, so the list of its files is asked for once.
Status Repository::look_up() {
  HubConnection connection(settings_);
  const std::string what = shown(name_);
  if (is_commit(name_.revision)) {
    commit_ = name_.revision;
  } else {
    TRY_ASSIGN(const auto page, connection.page(api_path("revision", name_.revision), what));
    if (!page.json.is_object()) return fail("{}: the hub's answer is no object", what);
    JsonReader reader(page.json);
    commit_ = reader.string("sha");
    if (!reader.status() || !is_commit(commit_))
      return fail("{}: the hub's answer names no commit", what);
  }
  if (auto kept = layout_.tree(commit_)) {
    files_ = *std::move(kept);
  } else {
    std::string next = api_path("tree", commit_) + "?recursive=true";
    while (!next.empty()) {
      TRY_ASSIGN(const auto page, connection.page(next, what));
      auto files = files_from_api(page.json);
      if (!files) return tl::unexpected(files.error().within(what));
      files_.insert(files_.end(), files->begin(), files->end());
      next = page.next;
    }
    std::ranges::sort(files_, {}, &RemoteFile::path);
    TRY(layout_.keep_tree(commit_, files_));
  }
  return layout_.keep_commit(name_.revision, commit_);
}

Status Repository::use_cache() {
  const auto commit = layout_.commit_of(name_.revision);
  std::error_code error;
  if (!commit || !fs::is_directory(layout_.snapshot(*commit), error))
    return fail("{} is not in the cache {}, and {}", shown(name_), settings_.cache.string(),
                unreachable_);
  commit_ = *commit;
  auto kept = layout_.tree(commit_);
  files_ = kept ? *std::move(kept) : layout_.files_there(commit_);
  return ok();
}

std::string Repository::api_path(std::string_view what, std::string_view revision) const {
  return fmt::format("/api/{}/{}/{}/{}", plural_of(kind_), name_.id, what,
                     url_encoded(revision, ""));
}

std::string Repository::file_path(const RemoteFile& file) const {
  return fmt::format("{}/{}/resolve/{}/{}", kind_ == RepositoryKind::model ? "" : "/datasets",
                     name_.id, commit_, url_encoded(file.path, "/"));
}

const RemoteFile* Repository::find(const std::string& path) const {
  const auto at = std::ranges::lower_bound(files_, path, {}, &RemoteFile::path);
  return at != files_.end() && at->path == path ? &*at : nullptr;
}

Result<std::vector<RemoteFile>> Repository::missing_of(
    const std::vector<std::string>& paths) const {
  std::vector<RemoteFile> missing;
  for (const std::string& each : paths) {
    if (layout_.has(commit_, each)) continue;
    const RemoteFile* file = find(each);
    if (file == nullptr) return fail("{} has no file {}", shown(name_), each);
    if (!unreachable_.empty())
      return fail("{} of {} is not in the cache {}, and {}", each, shown(name_),
                  settings_.cache.string(), unreachable_);
    missing.push_back(*file);
  }
  return missing;
}

Status Repository::check_space(const std::vector<RemoteFile>& missing) const {
  TRY(make_directories(settings_.cache));
  std::error_code error;
  const fs::space_info space = fs::space(settings_.cache, error);
  const auto needed = static_cast<double>(bytes_of(missing));
  if (error || needed <= static_cast<double>(space.available)) return ok();
  return fail(
      "{} needs {:.1f} GB, but {} has {:.1f} GB left; HF_HUB_CACHE or HF_HOME names another place",
      shown(name_), needed / 1e9, settings_.cache.string(),
      static_cast<double>(space.available) / 1e9);
}

Status Repository::fetch(const std::vector<std::string>& paths) const {
  TRY_ASSIGN(auto missing, missing_of(paths));
  if (missing.empty()) return ok();
  TRY(check_space(missing));
  return Fetching(*this, std::move(missing)).run();
}

}  // namespace tritonsmith::hub
