#include "datasets/schema.h"

#include <algorithm>
#include <limits>

namespace tritonsmith::datasets {
namespace {

constexpr int kDeepest = 16;  // deeper values become text

Column column_of(const Json& value, std::string name, int depth);

Column& member(std::vector<Column>& columns, const std::string& name) {
  const auto at = std::ranges::lower_bound(columns, name, {}, &Column::name);
  if (at != columns.end() && at->name == name) return *at;
  return *columns.insert(at, Column{.name = name});
}

void merge(Column& into, const Column& other) {
  if (other.kind == ColumnKind::unknown || into.kind == ColumnKind::json) return;
  const bool numbers = (into.kind == ColumnKind::integer && other.kind == ColumnKind::number) ||
                       (into.kind == ColumnKind::number && other.kind == ColumnKind::integer);
  if (into.kind == ColumnKind::unknown) {
    into.kind = other.kind;
    into.inner = other.inner;
  } else if (numbers) {
    into.kind = ColumnKind::number;
  } else if (into.kind != other.kind) {
    into.kind = ColumnKind::json;
    into.inner.clear();
  } else if (into.kind == ColumnKind::list) {
    merge(into.inner.front(), other.inner.front());
  } else {
    for (const Column& each : other.inner) merge(member(into.inner, each.name), each);
  }
}

Column list_of(const Json& values, std::string name, int depth) {
  Column column{.name = std::move(name), .kind = ColumnKind::list, .inner = {{.name = "element"}}};
  for (const Json& each : values)
    merge(column.inner.front(), column_of(each, "element", depth + 1));
  return column;
}

Column column_of(const Json& value, std::string name, int depth) {
  Column column{.name = std::move(name)};
  if (depth > kDeepest) {
    column.kind = ColumnKind::json;
  } else if (value.is_boolean()) {
    column.kind = ColumnKind::boolean;
  } else if (value.is_number_unsigned()) {
    const bool fits = value.get<std::uint64_t>() <=
                      static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
    column.kind = fits ? ColumnKind::integer : ColumnKind::number;
  } else if (value.is_number_integer()) {
    column.kind = ColumnKind::integer;
  } else if (value.is_number()) {
    column.kind = ColumnKind::number;
  } else if (value.is_string()) {
    column.kind = ColumnKind::text;
  } else if (value.is_array()) {
    column = list_of(value, std::move(column.name), depth);
  } else if (value.is_object()) {
    column.kind = ColumnKind::object;
    for (const auto& [key, each] : value.items())
      column.inner.push_back(column_of(each, key, depth + 1));
  }
  return column;
}

}  // namespace

void extend(Schema& schema, const Json& row) {
  for (const auto& [name, value] : row.items())
    merge(member(schema, name), column_of(value, name, 0));
}

}  // namespace tritonsmith::datasets
