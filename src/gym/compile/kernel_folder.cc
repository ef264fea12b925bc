#include "gym/compile/kernel_folder.h"

#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <vector>

#include "base/file.h"
#include "base/log.h"
#include "gym/compile/compile_cache.h"

namespace tritonsmith::gym::compile {
namespace {

namespace fs = std::filesystem;

// Writes the whole file or nothing. It does not sync, because the capture loop would wait for the
// disk. A file lost in a power failure is compiled again, and a torn file is no valid JSON.
Status write_whole(const fs::path& file, std::string_view text) {
  const fs::path beside = fmt::format("{}.new-{}", file.string(), ::getpid());
  std::ofstream out(beside, std::ios::binary | std::ios::trunc);
  out.write(text.data(), static_cast<std::streamsize>(text.size()));
  out.close();
  std::error_code code;
  if (!out) {
    fs::remove(beside, code);
    return fail("cannot write {}", file.string());
  }
  // If this fails, another process has taken the file for one that was left behind.
  fs::rename(beside, file, code);
  return ok();
}

struct KeptFile {
  fs::path path;
  std::uint64_t bytes = 0;
  fs::file_time_type used;
};

// Files may vanish at any time, since other processes remove them, too.
std::vector<KeptFile> files_in(const fs::path& folder) {
  std::vector<KeptFile> files;
  std::error_code code;
  for (fs::directory_iterator at(folder, code), end; !code && at != end; at.increment(code)) {
    std::error_code gone;
    KeptFile file{.path = at->path()};
    file.bytes = at->file_size(gone);
    if (!gone) file.used = at->last_write_time(gone);
    if (!gone) files.push_back(std::move(file));
  }
  return files;
}

// Removes the files that were used longest ago until `more` bytes fit.
void make_space(const fs::path& folder, std::uint64_t more, std::uint64_t most) {
  std::vector<KeptFile> files = files_in(folder);
  std::uint64_t bytes = more;
  for (const KeptFile& file : files) bytes += file.bytes;
  if (bytes <= most) return;
  std::ranges::sort(files, {}, &KeptFile::used);
  for (const KeptFile& file : files) {
    if (bytes <= most) return;
    std::error_code code;
    fs::remove(file.path, code);
    if (!code) bytes -= file.bytes;
  }
}

}  // namespace

std::optional<CompiledKernel> KernelFolder::find(const std::string& key) const {
  if (directory_.empty()) return std::nullopt;
  const fs::path file = file_of(key);
  const auto text = read_file(file);
  if (!text) return std::nullopt;
  const auto json = parse_json(*text);
  if (!json) return std::nullopt;
  auto kernel = compiled_kernel_from_json(*json);
  if (!kernel) return std::nullopt;
  std::error_code ignored;  // a file of another user, or one that has just been removed
  fs::last_write_time(file, fs::file_time_type::clock::now(), ignored);
  return *std::move(kernel);
}

void KernelFolder::add(const std::string& key, const CompiledKernel& kernel) {
  if (directory_.empty()) return;
  const std::string text = to_line(to_json(kernel));
  if (text.size() > part_bytes_) return;
  const fs::path file = file_of(key);
  Status written = make_directories(file.parent_path());
  if (written) {
    make_space(file.parent_path(), text.size(), part_bytes_);
    written = write_whole(file, text);
  }
  if (!written) {
    LOG("the compile cache goes on in memory only: {}", written.error().message);
    directory_.clear();
  }
}

fs::path KernelFolder::file_of(const std::string& key) const {
  return directory_ / key.substr(0, 2) / (key + ".json");
}

}  // namespace tritonsmith::gym::compile
