#include "train/run/record_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <utility>

#include "base/check.h"

namespace tritonsmith::train {

Result<RecordFile> RecordFile::open(const std::filesystem::path& path, std::uint64_t keep_bytes) {
  const int fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  if (fd < 0) return fail_errno(fmt::format("cannot open {} for appending", path.string()));
  RecordFile file(fd, path, keep_bytes);
  const off_t size = ::lseek(fd, 0, SEEK_END);
  if (size < 0) return fail_errno(fmt::format("cannot read {}", path.string()));
  if (static_cast<std::uint64_t>(size) < keep_bytes)
    return fail("{} has {} bytes, but its checkpoint was written at {}: a part of it was removed",
                path.string(), size, keep_bytes);
  if (::ftruncate(fd, static_cast<off_t>(keep_bytes)) != 0)
    return fail_errno(fmt::format("cannot cut {} back to its checkpoint", path.string()));
  return file;
}

RecordFile::RecordFile(int fd, std::filesystem::path path, std::uint64_t size)
    : fd_(fd), path_(std::move(path)), size_(size) {}
RecordFile::RecordFile(RecordFile&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)), path_(std::move(other.path_)), size_(other.size_) {}
RecordFile& RecordFile::operator=(RecordFile&& other) noexcept {
  std::swap(fd_, other.fd_);
  std::swap(path_, other.path_);
  std::swap(size_, other.size_);
  return *this;
}
RecordFile::~RecordFile() {
  if (fd_ >= 0) ::close(fd_);
}

Status RecordFile::append(std::string_view bytes) {
  std::string_view left = bytes;
  while (!left.empty()) {
    const ssize_t written = ::write(fd_, left.data(), left.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) {
      auto error = fail_errno(fmt::format("cannot write {}", path_.string()));
      if (::ftruncate(fd_, static_cast<off_t>(size_)) != 0)
        return fail("{}, and it now ends in half a record", error.value().message);
      return error;
    }
    left.remove_prefix(static_cast<std::size_t>(written));
  }
  size_ += bytes.size();
  return ok();
}

Status RecordFile::append_line(std::string_view line) {
  CHECK(line.find('\n') == std::string_view::npos, "a record is one line");
  return append(std::string(line) + '\n');
}

Status RecordFile::sync() {
  if (::fsync(fd_) != 0) return fail_errno(fmt::format("cannot write {}", path_.string()));
  return ok();
}

}  // namespace tritonsmith::train
