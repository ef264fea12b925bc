// Files as whole strings, written so that a crash or a full disk never leaves half of one.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace tritonsmith {

// Fails with one line that names the file: missing, a directory, unreadable.
Result<std::string> read_file(const std::filesystem::path& path);

// Writes beside the target, syncs, renames: the target holds either the old or the new bytes,
// whole.
Status write_file_atomic(const std::filesystem::path& path, std::string_view bytes);

// Makes the directory and its parents; fine when it is there already.
Status make_directories(const std::filesystem::path& path);

// The lines of a text file without their ends; a last line without newline is kept.
Result<std::vector<std::string>> read_lines(const std::filesystem::path& path);

// An append-only JSONL file. Each append is one write of a whole line. On opening, a last line
// without newline (what a crash in mid-write leaves) is cut off, so that records stay parsable.
class LineWriter {
 public:
  static Result<LineWriter> open(const std::filesystem::path& path);
  LineWriter(LineWriter&& other) noexcept;
  LineWriter& operator=(LineWriter&& other) noexcept;
  ~LineWriter();

  Status append(std::string_view line);
  // Until this returns, appended lines may be lost with the machine (not with the process).
  Status sync();

 private:
  LineWriter(int fd, std::filesystem::path path);
  int fd_ = -1;
  std::filesystem::path path_;
};

}  // namespace tritonsmith
