// Reads and writes Parquet files by Apache Arrow's C++ library, which the Python package pyarrow
// brings. Few people need it and it is large. So it is no part of the program: a library beside the
// program, libtritonsmith_parquet.so, is linked with it and is loaded when the first Parquet file
// is opened.
#pragma once

#include <filesystem>
#include <memory>

#include "datasets/row.h"
#include "datasets/schema.h"

namespace tritonsmith::datasets {

// Columns that hold what JSON has no form for become text. Both fail with one line that says what
// to install where Arrow is missing.
Result<std::unique_ptr<RowReader>> read_parquet_rows(const std::filesystem::path& file);
Result<std::unique_ptr<RowWriter>> write_parquet_rows(const std::filesystem::path& file,
                                                      const Schema& schema);

// Says why Parquet cannot be used here. Empty: it can.
std::string why_no_parquet();

}  // namespace tritonsmith::datasets
