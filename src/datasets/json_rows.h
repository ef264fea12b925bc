// Reads the rows of JSON files: one object a line (JSONL), or one array of objects that may be
// larger than the memory. The first character that is no white space decides. NaN and Infinity,
// which Python writes and JSON does not know, are read as null.
#pragma once

#include <filesystem>
#include <memory>

#include "datasets/byte_stream.h"
#include "datasets/row.h"

namespace tritonsmith::datasets {

inline constexpr std::size_t kMaxRowBytes = std::size_t{512} << 20;

// `name` is what locations and errors call the file.
std::unique_ptr<RowReader> read_json_rows(std::unique_ptr<ByteSource> source, std::string name,
                                          std::size_t max_row_bytes = kMaxRowBytes);

// `.json` gives an array with one row a line, every other name gives JSONL.
Result<std::unique_ptr<RowWriter>> write_json_rows(const std::filesystem::path& file);

// Replaces NaN, Infinity and -Infinity outside strings by null. Equal text: there was none.
std::string without_nan(std::string_view json);

}  // namespace tritonsmith::datasets
