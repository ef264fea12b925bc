// SampleIndex: where each sample of a samples.jsonl stands, and the few facts by which a reader
// chooses one. The file may be large and may grow, so it is read once, and later only its new end. A
// record is read whole only when somebody opens its conversation.
// One thread at a time.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "data/sample.h"

namespace tritonsmith::serve::runs {

struct SampleRow {
  std::uintmax_t offset = 0;  // of its line in the file
  std::size_t bytes = 0;
  std::int64_t step = 0;
  int group = 0, member = 0, turn = 0;
  std::string task;
  std::string result;  // "accepted", the error's class, "refused" or "no_kernel"
  std::optional<double> speedup;
  double reward = 0;
  std::int64_t tokens = 0;
};

class SampleIndex {
 public:
  explicit SampleIndex(std::filesystem::path file) : file_(std::move(file)) {}

  // Reads what the file has grown by. A last line that is not complete yet waits. A file that has
  // become shorter is read anew.
  Status update();
  const std::vector<SampleRow>& rows() const { return rows_; }
  Result<Sample> read(const SampleRow& row) const;
  // Returns the numbers of the rows of one conversation, in the order of their turns.
  std::vector<std::size_t> conversation_of(std::size_t row) const;

 private:
  Status add(std::string_view line, std::uintmax_t offset);

  std::filesystem::path file_;
  std::uintmax_t end_ = 0;  // of the last whole line that was read
  std::vector<SampleRow> rows_;
};

}  // namespace tritonsmith::serve::runs
