// Commands that read the data sets of others share these options, and these messages about the rows
// that they read.
#pragma once

#include <string_view>

#include "cli/call/command.h"
#include "datasets/import.h"

namespace tritonsmith::cli {

struct DatasetOptions {
  std::string path, config, split = "train", name;
  std::string dataset;  // its name on the hub; empty: by the path
  std::size_t limit = 0;
  bool keep_going = false;
};

void add_dataset_options(CLI::App& command, DatasetOptions& options);

// The options of an import. Rows that it skips are logged.
datasets::ImportOptions import_options(const DatasetOptions& options);

// "18,162 rows: 18,010 tasks, 150 duplicates, 2 that could not be used" and what is missing.
void show_counts(const datasets::ImportCounts& counts, std::string_view noun, std::string_view out);

}  // namespace tritonsmith::cli
