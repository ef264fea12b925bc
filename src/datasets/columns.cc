#include "datasets/columns.h"

namespace tritonsmith::datasets {
namespace {

// Many data sets store nested values as JSON within text.
Json unpacked(Json value) {
  if (!value.is_string()) return value;
  const auto& text = value.get_ref<const std::string&>();
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  if (first == std::string::npos || (text[first] != '{' && text[first] != '[')) return value;
  auto json = parse_json(text);
  return json && json->is_structured() ? *std::move(json) : value;
}

}  // namespace

std::optional<Json> column(const Json& row, std::string_view name) {
  if (!row.is_object()) return std::nullopt;
  const std::size_t dot = name.find('.');
  const auto at = row.find(name.substr(0, dot));
  if (at == row.end() || at->is_null()) return std::nullopt;
  if (dot == std::string_view::npos) return *at;
  return column(unpacked(*at), name.substr(dot + 1));
}

Result<std::string> text_column(const Json& row, Names names) {
  std::string wrong;
  for (const std::string_view name : names) {
    const auto value = column(row, name);
    if (!value) continue;
    if (value->is_string() && !value->get_ref<const std::string&>().empty())
      return value->get<std::string>();
    if (!value->is_string() && wrong.empty())
      wrong = fmt::format("'{}' must be text, not {}", name, value->type_name());
  }
  if (!wrong.empty()) return fail("{}", wrong);
  return std::string();
}

std::string word_column(const Json& row, Names names) {
  for (const std::string_view name : names) {
    const auto value = column(row, name);
    if (!value) continue;
    if (value->is_string()) return value->get<std::string>();
    if (value->is_number()) return to_line(*value);
  }
  return {};
}

}  // namespace tritonsmith::datasets
