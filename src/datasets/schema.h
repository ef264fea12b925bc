// Schema: the columns of rows, which a Parquet file must know before its first row. It is found by
// reading all rows once. A column whose values fit no common type becomes text that holds JSON, as
// in other people's data sets.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"

namespace tritonsmith::datasets {

// unknown: every value so far is null. json: text that holds a value as JSON.
enum class ColumnKind { unknown, boolean, integer, number, text, list, object, json };

struct Column {
  std::string name;
  ColumnKind kind = ColumnKind::unknown;
  // A list has the one type of its elements; an object its members in the order of their names.
  std::vector<Column> inner = {};
  bool operator==(const Column&) const = default;
};
using Schema = std::vector<Column>;

// Extends the schema so that it also holds the row, which must be an object.
void extend(Schema& schema, const Json& row);

}  // namespace tritonsmith::datasets
