// Converts Arrow's values to JSON.
#pragma once

#include <arrow/api.h>

#include "base/json.h"

namespace tritonsmith::datasets::parquet {

// As to_line(), which belongs to the program and not to this library.
inline std::string one_line(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

// The value at `at`. Dates, times, decimals and other types without a form in JSON become text.
Json value_at(const arrow::Array& array, std::int64_t at);

}  // namespace tritonsmith::datasets::parquet
