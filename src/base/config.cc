#include "base/config.h"

#define TOML_EXCEPTIONS 0
#define TOML_ENABLE_FORMATTERS 0
#include <toml++/toml.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "base/file.h"

namespace tritonsmith {
namespace {

Json json_from_toml(const toml::node& node) {
  if (const auto* value = node.as_boolean()) return value->get();
  if (const auto* value = node.as_integer()) return value->get();
  if (const auto* value = node.as_floating_point()) return value->get();
  if (const auto* value = node.as_string()) return value->get();
  Json list = Json::array();
  if (const auto* array = node.as_array())
    for (const auto& item : *array) list.push_back(json_from_toml(item));
  return list;
}

void flatten(const toml::table& table, const std::string& prefix, Settings& out) {
  for (const auto& [key, node] : table) {
    const std::string name = prefix + std::string(key.str());
    if (const auto* inner = node.as_table())
      flatten(*inner, name + ".", out);
    else
      out.emplace_back(name, json_from_toml(node));
  }
}

// The Levenshtein distance, computed with two rows of the table.
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t change = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({change, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row.back();
}

template <typename Integer>
Status read_integer(const Json& json, Integer& out) {
  if (!json.is_number_integer()) return fail("must be a whole number");
  const auto value = json.get<std::int64_t>();
  if (!std::in_range<Integer>(value)) return fail("{} is out of range", value);
  out = static_cast<Integer>(value);
  return ok();
}

}  // namespace

Status read_value(const Json& json, bool& out) {
  if (!json.is_boolean()) return fail("must be true or false");
  out = json.get<bool>();
  return ok();
}
Status read_value(const Json& json, int& out) { return read_integer(json, out); }
Status read_value(const Json& json, std::int64_t& out) { return read_integer(json, out); }
Status read_value(const Json& json, std::uint64_t& out) { return read_integer(json, out); }
Status read_value(const Json& json, double& out) {
  if (!json.is_number()) return fail("must be a number");
  out = json.get<double>();
  if (!std::isfinite(out)) return fail("must be a finite number");
  return ok();
}
Status read_value(const Json& json, std::string& out) {
  if (!json.is_string()) return fail("must be a string (in quotes)");
  out = json.get<std::string>();
  return ok();
}

Result<Settings> settings_from_toml(std::string_view text, std::string_view source_name) {
  const toml::parse_result parsed = toml::parse(text, source_name);
  if (!parsed)
    return fail("{}:{}: {}", source_name, parsed.error().source().begin.line,
                parsed.error().description());
  Settings settings;
  flatten(parsed.table(), "", settings);
  return settings;
}

Result<Settings> settings_from_toml_file(const std::filesystem::path& file) {
  TRY_ASSIGN(const std::string text, read_file(file));
  return settings_from_toml(text, file.string());
}

Result<Settings> settings_from_overrides(const std::vector<std::string>& overrides) {
  Settings settings;
  for (const std::string& override : overrides) {
    const std::size_t equals = override.find('=');
    if (equals == std::string::npos || equals == 0)
      return fail("--set {}: write it as key=value", override);
    const std::string key = override.substr(0, equals);
    const std::string value = override.substr(equals + 1);
    const toml::parse_result parsed = toml::parse("value = " + value);
    settings.emplace_back(key, parsed ? json_from_toml(*parsed.table().get("value")) : Json(value));
  }
  return settings;
}

std::string nearest_name(std::string_view wanted, const std::vector<std::string>& known) {
  CHECK(!known.empty(), "a config without fields");
  return *std::min_element(known.begin(), known.end(), [&](const auto& a, const auto& b) {
    return distance(wanted, a) < distance(wanted, b);
  });
}

// Writes one dotted name a line. That is valid TOML, and it shows each setting in the form that
// --set takes.
std::string toml_from_settings(const Settings& settings) {
  std::string text;
  for (const auto& [name, value] : settings) text += fmt::format("{} = {}\n", name, to_line(value));
  return text;
}

}  // namespace tritonsmith
