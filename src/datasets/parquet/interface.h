// Defines the interface between the program and libtritonsmith_parquet.so. Both are built together,
// and the number tells a library that was left behind by another build.
#pragma once

#include <memory>
#include <string>

#include "datasets/row.h"
#include "datasets/schema.h"

namespace tritonsmith::datasets::parquet {

inline constexpr int kInterface = 1;
inline constexpr const char* kEntry = "tritonsmith_parquet";

struct Library {
  int interface = 0;
  Result<std::unique_ptr<RowReader>> (*read)(const std::string& file) = nullptr;
  // Writes to `file` itself. The caller renames it when finish() has succeeded.
  Result<std::unique_ptr<RowWriter>> (*write)(const std::string& file,
                                              const Schema& schema) = nullptr;
};
using Entry = const Library* (*)();

}  // namespace tritonsmith::datasets::parquet
