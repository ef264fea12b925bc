#include "base/file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <system_error>
#include <utility>

#include "base/check.h"
#include "base/log.h"

namespace tritonsmith {
namespace {

namespace fs = std::filesystem;

Status write_all(int fd, std::string_view bytes, const fs::path& path) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(fd, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return fail_errno(fmt::format("cannot write {}", path.string()));
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return ok();
}

// Makes a rename survive a power failure.
void sync_directory(const fs::path& directory) {
  const int fd = ::open(directory.empty() ? "." : directory.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return;
  ::fsync(fd);
  ::close(fd);
}

Status cut_unfinished_line(int fd, const fs::path& path) {
  const off_t size = ::lseek(fd, 0, SEEK_END);
  off_t end = size;
  char byte = 0;
  while (end > 0 && ::pread(fd, &byte, 1, end - 1) == 1 && byte != '\n') --end;
  if (end != size && ::ftruncate(fd, end) != 0)
    return fail_errno(fmt::format("cannot cut the unfinished last line of {}", path.string()));
  return ok();
}

}  // namespace

Result<std::string> read_file(const fs::path& path) {
  std::error_code ignored;
  if (fs::is_directory(path, ignored)) return fail("{} is a directory, not a file", path.string());
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return fail_errno(fmt::format("cannot open {}", path.string()));
  std::string bytes;
  struct stat status {};
  if (::fstat(fd, &status) == 0 && status.st_size > 0)
    bytes.reserve(static_cast<std::size_t>(status.st_size));
  char buffer[1 << 16];
  ssize_t got = 0;
  while ((got = ::read(fd, buffer, sizeof buffer)) != 0) {
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) break;
    bytes.append(buffer, static_cast<std::size_t>(got));
  }
  if (got < 0) {
    auto error = fail_errno(fmt::format("cannot read {}", path.string()));
    ::close(fd);
    return error;
  }
  ::close(fd);
  return bytes;
}

Status write_file_atomic(const fs::path& path, std::string_view bytes) {
  const fs::path beside = path.string() + fmt::format(".new-{}", ::getpid());
  const int fd = ::open(beside.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (fd < 0) return fail_errno(fmt::format("cannot write {}", path.string()));
  Status status = write_all(fd, bytes, path);
  if (status && ::fsync(fd) != 0)
    status = fail_errno(fmt::format("cannot write {}", path.string()));
  ::close(fd);
  if (status && ::rename(beside.c_str(), path.c_str()) != 0)
    status = fail_errno(fmt::format("cannot replace {}", path.string()));
  if (!status) {
    ::unlink(beside.c_str());
    return status;
  }
  sync_directory(path.parent_path());
  return ok();
}

Status make_directories(const fs::path& path) {
  std::error_code code;
  if (fs::exists(path, code) && !fs::is_directory(path, code))
    return fail("{} is in the way: a directory is needed there", path.string());
  fs::create_directories(path, code);
  if (code) {
    errno = code.value();
    return fail_errno(fmt::format("cannot make the directory {}", path.string()));
  }
  return ok();
}

Status prepare_output_file(const fs::path& path) {
  std::error_code ignored;
  if (!path.has_filename() || fs::is_directory(path, ignored))
    return fail("{} is a directory; name a file", path.string());
  if (path.has_parent_path() && !fs::exists(path.parent_path(), ignored)) {
    TRY(make_directories(path.parent_path()));
    LOG("made the folder {}", path.parent_path().string());
  }
  const fs::path probe = path.string() + fmt::format(".new-{}", ::getpid());
  const int fd = ::open(probe.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
  if (fd < 0) return fail_errno(fmt::format("cannot write {}", path.string()));
  ::close(fd);
  ::unlink(probe.c_str());
  return ok();
}

Result<std::vector<std::filesystem::path>> entries_of(const std::filesystem::path& directory) {
  std::vector<std::filesystem::path> entries;
  std::error_code code;
  for (std::filesystem::directory_iterator at(directory, code), end; !code && at != end;
       at.increment(code))
    entries.push_back(at->path());
  if (code) return fail("cannot read {}: {}", directory.string(), code.message());
  std::ranges::sort(entries);
  return entries;
}

Result<std::vector<std::string>> read_lines(const fs::path& path) {
  TRY_ASSIGN(const std::string bytes, read_file(path));
  std::vector<std::string> lines;
  for (std::size_t begin = 0; begin < bytes.size();) {
    const std::size_t end = std::min(bytes.find('\n', begin), bytes.size());
    lines.emplace_back(bytes, begin, end - begin);
    begin = end + 1;
  }
  return lines;
}

Result<LineWriter> LineWriter::open(const fs::path& path) {
  const int fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  if (fd < 0) return fail_errno(fmt::format("cannot open {} for appending", path.string()));
  LineWriter writer(fd, path);
  TRY(cut_unfinished_line(fd, path));
  return writer;
}

LineWriter::LineWriter(int fd, fs::path path) : fd_(fd), path_(std::move(path)) {}
LineWriter::LineWriter(LineWriter&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)), path_(std::move(other.path_)) {}
LineWriter& LineWriter::operator=(LineWriter&& other) noexcept {
  std::swap(fd_, other.fd_);
  std::swap(path_, other.path_);
  return *this;
}
LineWriter::~LineWriter() {
  if (fd_ >= 0) ::close(fd_);
}

Status LineWriter::append(std::string_view line) {
  CHECK(line.find('\n') == std::string_view::npos, "a record is one line");
  return write_all(fd_, std::string(line) + '\n', path_);
}

Status LineWriter::sync() {
  if (::fsync(fd_) != 0) return fail_errno(fmt::format("cannot write {}", path_.string()));
  return ok();
}

}  // namespace tritonsmith
