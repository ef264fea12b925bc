// RecordFile: an append-only file of a run. Each checkpoint stores its length. Opening it for a
// resumed run cuts off the data written after the checkpoint, so that records have neither gaps nor
// duplicates. A failed append (a full disk) removes its own bytes; earlier data stays complete.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string_view>

#include "base/error.h"

namespace tritonsmith::train {

class RecordFile {
 public:
  // Makes the file if it is missing. Fails if it is shorter than `keep_bytes`.
  static Result<RecordFile> open(const std::filesystem::path& path, std::uint64_t keep_bytes);
  RecordFile(RecordFile&& other) noexcept;
  RecordFile& operator=(RecordFile&& other) noexcept;
  ~RecordFile();

  Status append(std::string_view bytes);
  Status append_line(std::string_view line);
  // Appended bytes survive a crash of the process. They survive a crash of the machine only after
  // sync().
  Status sync();
  std::uint64_t size() const { return size_; }

 private:
  RecordFile(int fd, std::filesystem::path path, std::uint64_t size);
  int fd_ = -1;
  std::filesystem::path path_;
  std::uint64_t size_ = 0;
};

}  // namespace tritonsmith::train
