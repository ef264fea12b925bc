// Import: streams the rows of a data set into our own JSONL. A row is in memory at a time, beside a
// hash of each source and each id that was taken.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <unordered_set>

#include "datasets/dataset.h"
#include "datasets/example_row.h"

namespace tritonsmith::datasets {

enum class OnBadRow { stop, skip };

struct ImportOptions {
  DatasetChoice from;
  std::string name;  // of the suite; empty: the data set's
  OnBadRow on_bad = OnBadRow::stop;
  std::size_t limit = 0;  // at most so many rows are written; 0: all
  ExampleOptions examples;
  // Told of each row that is skipped.
  std::function<void(const std::string& location, const std::string& why)> skipped = {};
};

struct ImportCounts {
  std::size_t rows = 0, written = 0;
  std::size_t duplicates = 0;  // rows whose source (or prompt and answer) another row had
  std::size_t bad = 0;
  std::size_t without_licence = 0;  // of those written
};

// A task is written once, whatever number of rows show it. Ids that repeat get the row's number.
Result<ImportCounts> import_tasks(const ImportOptions& options, RowWriter& out);
Result<ImportCounts> import_examples(const ImportOptions& options, RowWriter& out);

}  // namespace tritonsmith::datasets
