// Reads and writes whole files. A crash or a full disk never leaves a partly written file.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace tritonsmith {

// Fails with one line that names the file if it is missing, a directory or unreadable.
Result<std::string> read_file(const std::filesystem::path& path);

// Writes a temporary file beside the target, syncs it and renames it. The target always holds
// either all old bytes or all new bytes.
Status write_file_atomic(const std::filesystem::path& path, std::string_view bytes);

// Makes sure, before long work, that its result can be written to this file. Makes the file's
// directory if it is missing, and logs that. Fails with one line if the file cannot be written there.
Status prepare_output_file(const std::filesystem::path& path);

// Makes the directory and its parents. Succeeds if the directory exists already.
Status make_directories(const std::filesystem::path& path);

// Returns the paths of all entries of the directory, sorted by name.
Result<std::vector<std::filesystem::path>> entries_of(const std::filesystem::path& directory);

// Returns the lines of a text file without their line ends. A last line without a newline is
// included.
Result<std::vector<std::string>> read_lines(const std::filesystem::path& path);

// An append-only JSONL file. Each append is one write of a whole line. A crash in the middle of a
// write leaves a last line without newline. Opening the file cuts such a line off, so that the
// records stay parsable.
class LineWriter {
 public:
  static Result<LineWriter> open(const std::filesystem::path& path);
  LineWriter(LineWriter&& other) noexcept;
  LineWriter& operator=(LineWriter&& other) noexcept;
  ~LineWriter();

  Status append(std::string_view line);
  // Appended lines survive a crash of the process. They survive a crash of the machine only after
  // sync().
  Status sync();

 private:
  LineWriter(int fd, std::filesystem::path path);
  int fd_ = -1;
  std::filesystem::path path_;
};

}  // namespace tritonsmith
