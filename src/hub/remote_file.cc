#include "hub/remote_file.h"

#include <algorithm>

namespace tritonsmith::hub {
namespace {

constexpr int kTreeFormat = 1;
constexpr std::size_t kSha1Digits = 40, kSha256Digits = 64;

bool is_hex(const std::string& text, std::size_t digits) {
  return text.size() == digits && std::ranges::all_of(text, [](char c) {
           return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
         });
}

bool stays_inside(const std::string& path) {
  if (path.empty() || path.front() == '/' || path.find('\0') != std::string::npos) return false;
  for (std::size_t at = 0; at <= path.size();) {
    const std::size_t end = std::min(path.find('/', at), path.size());
    const std::string_view part = std::string_view(path).substr(at, end - at);
    if (part.empty() || part == "." || part == "..") return false;
    at = end + 1;
  }
  return true;
}

Status check(const RemoteFile& file) {
  if (!stays_inside(file.path)) return fail("the list names a file '{}'", file.path);
  if (file.size < 0 || !is_hex(file.git_sha1, kSha1Digits) ||
      (!file.sha256.empty() && !is_hex(file.sha256, kSha256Digits)))
    return fail("the list has no size or no checksum of '{}'", file.path);
  return ok();
}

Status sort_and_check(std::vector<RemoteFile>& files) {
  std::ranges::sort(files, {}, &RemoteFile::path);
  for (const RemoteFile& each : files) TRY(check(each));
  return ok();
}

}  // namespace

Result<std::vector<RemoteFile>> files_from_api(const Json& page) {
  if (!page.is_array()) return fail("the hub's list of files is no list");
  std::vector<RemoteFile> files;
  for (const Json& each : page) {
    if (!each.is_object()) return fail("the hub's list of files holds something else");
    JsonReader entry(each);
    if (entry.string("type") != "file") {
      TRY(entry.status());
      continue;
    }
    RemoteFile file{.path = entry.string("path"),
                    .size = entry.integer("size"),
                    .git_sha1 = entry.string("oid"),
                    .sha256 = {}};
    if (entry.has("lfs")) {
      JsonReader large(entry.object("lfs"));
      file.sha256 = large.string("oid");
      file.size = large.integer("size");
      TRY(large.status());
    }
    TRY(entry.status());
    files.push_back(std::move(file));
  }
  TRY(sort_and_check(files));
  return files;
}

std::string tree_text(const std::vector<RemoteFile>& files) {
  Json all = Json::object();
  for (const RemoteFile& each : files) {
    Json& entry = all[each.path] = {{"size", each.size}, {"blob_id", each.git_sha1}};
    if (each.sha256.empty()) continue;
    entry["lfs_sha256"] = each.sha256;
    entry["lfs_size"] = each.size;
  }
  return to_line({{"format_version", kTreeFormat}, {"files", std::move(all)}});
}

Result<std::vector<RemoteFile>> files_from_tree(const Json& tree) {
  if (!tree.is_object()) return fail("the list of files is no object");
  JsonReader reader(tree);
  if (reader.integer("format_version") != kTreeFormat) {
    TRY(reader.status());
    return fail("the list of files has another format");
  }
  std::vector<RemoteFile> files;
  for (const auto& [path, info] : reader.object("files").items()) {
    if (!info.is_object()) return fail("the list of files has no facts about '{}'", path);
    JsonReader entry(info);
    RemoteFile file{.path = path,
                    .size = entry.integer("size"),
                    .git_sha1 = entry.string("blob_id"),
                    .sha256 = entry.string("lfs_sha256", "")};
    file.size = entry.integer("lfs_size", file.size);
    TRY(entry.status());
    files.push_back(std::move(file));
  }
  TRY(reader.status());
  TRY(sort_and_check(files));
  return files;
}

}  // namespace tritonsmith::hub
