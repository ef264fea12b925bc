#include "hub/cache_layout.h"

#include <algorithm>
#include <regex>
#include <set>

#include "base/file.h"

namespace tritonsmith::hub {
namespace {

namespace fs = std::filesystem;

std::string folder_name(RepositoryKind kind, const std::string& id) {
  std::string name = kind == RepositoryKind::model ? "models--" : "datasets--";
  for (const char c : id) name += c == '/' ? std::string("--") : std::string(1, c);
  return name;
}

// Adds the other files of each numbered series. Shards of models count from 1, those of data sets
// from 0.
void complete_series(std::set<std::string>& paths, int first) {
  static const std::regex kNumbered(R"((.*-)(\d{5})(-of-)(\d{5})(\..*)?)");
  std::set<std::string> missing;
  for (const std::string& each : paths) {
    std::smatch parts;
    if (!std::regex_match(each, parts, kNumbered)) continue;
    const int count = std::stoi(parts[4]);
    for (int i = first; i < first + count; ++i)
      missing.insert(fmt::format("{}{:05}{}{}{}", parts[1].str(), i, parts[3].str(), parts[4].str(),
                                 parts[5].str()));
  }
  paths.merge(missing);
}

}  // namespace

CacheLayout::CacheLayout(fs::path cache, RepositoryKind kind, const HubName& name)
    : kind_(kind),
      repository_(cache / folder_name(kind, name.id)),
      locks_(cache / ".locks" / folder_name(kind, name.id)) {}

fs::path CacheLayout::snapshot(const std::string& commit) const {
  return repository_ / "snapshots" / commit;
}

fs::path CacheLayout::blob(const RemoteFile& file) const {
  return repository_ / "blobs" / file.blob();
}

fs::path CacheLayout::lock(const RemoteFile& file) const {
  return locks_ / (file.blob() + ".lock");
}

std::optional<std::string> CacheLayout::commit_of(const std::string& revision) const {
  if (is_commit(revision)) return revision;
  const auto text = read_file(repository_ / "refs" / revision);
  if (!text) return std::nullopt;
  const std::string commit = text->substr(0, text->find_first_of(" \r\n"));
  return is_commit(commit) ? std::optional(commit) : std::nullopt;
}

Status CacheLayout::keep_commit(const std::string& revision, const std::string& commit) const {
  if (is_commit(revision) || commit_of(revision) == commit) return ok();
  const fs::path file = repository_ / "refs" / revision;
  TRY(make_directories(file.parent_path()));
  return write_file_atomic(file, commit);
}

std::optional<std::vector<RemoteFile>> CacheLayout::tree(const std::string& commit) const {
  const auto text = read_file(repository_ / "trees" / (commit + ".json"));
  if (!text) return std::nullopt;
  const auto json = parse_json(*text);
  if (!json) return std::nullopt;
  auto files = files_from_tree(*json);
  return files ? std::optional(*std::move(files)) : std::nullopt;
}

Status CacheLayout::keep_tree(const std::string& commit,
                              const std::vector<RemoteFile>& files) const {
  TRY(make_directories(repository_ / "trees"));
  return write_file_atomic(repository_ / "trees" / (commit + ".json"), tree_text(files));
}

std::vector<RemoteFile> CacheLayout::files_there(const std::string& commit) const {
  const fs::path folder = snapshot(commit);
  std::set<std::string> paths;
  std::error_code error;
  for (fs::recursive_directory_iterator at(folder, error), end; !error && at != end;
       at.increment(error))
    if (at->is_regular_file(error))
      paths.insert(at->path().lexically_relative(folder).generic_string());
  complete_series(paths, kind_ == RepositoryKind::model ? 1 : 0);
  std::vector<RemoteFile> files;
  for (const std::string& each : paths)
    files.push_back({.path = each, .size = 0, .git_sha1 = {}, .sha256 = {}});
  return files;
}

bool CacheLayout::has(const std::string& commit, const std::string& path) const {
  std::error_code error;
  return fs::is_regular_file(snapshot(commit) / path, error);
}

Status CacheLayout::link(const std::string& commit, const RemoteFile& file) const {
  const fs::path link = snapshot(commit) / file.path;
  TRY(make_directories(link.parent_path()));
  if (has(commit, file.path)) return ok();
  std::error_code error;
  fs::remove(link, error);  // a link whose blob was deleted
  fs::create_symlink(blob(file).lexically_relative(link.parent_path()), link, error);
  if (!error || has(commit, file.path)) return ok();  // or another process made it
  fs::copy_file(blob(file), link, error);             // a file system without links
  if (error && !has(commit, file.path))
    return fail("{}: cannot be made: {}", link.string(), error.message());
  return ok();
}

}  // namespace tritonsmith::hub
