// Rows: a data set as a stream of JSON objects, whatever file they lie in. Readers and writers hold
// one row, or one small batch of rows, in memory. One thread uses one of them.
#pragma once

#include <optional>
#include <string>

#include "base/json.h"

namespace tritonsmith::datasets {

struct Row {
  Json value;            // an object
  std::string location;  // "train.jsonl:7" (line) or "train.parquet, row 7", both from 1
  std::string problem;   // not empty: this row could not be read, and later ones can
};

class RowReader {
 public:
  virtual ~RowReader() = default;
  // Returns the next row, or nothing at the end. Fails if nothing after this row can be read.
  virtual Result<std::optional<Row>> next() = 0;
};

class RowWriter {
 public:
  // A writer that is destroyed before finish() leaves no file behind.
  virtual ~RowWriter() = default;
  virtual Status write(const Json& row) = 0;
  virtual Status finish() = 0;
};

}  // namespace tritonsmith::datasets
