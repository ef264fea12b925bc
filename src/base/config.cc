#include "base/config.h"

#define TOML_EXCEPTIONS 0
#define TOML_ENABLE_FORMATTERS 0
#include <fmt/ranges.h>
#include <toml++/toml.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "base/counted.h"
#include "base/file.h"
#include "base/log.h"

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

// "optimizer" of "optimizer.learning_rate".
std::string_view section_of(std::string_view name) {
  const std::size_t dot = name.rfind('.');
  return dot == std::string_view::npos ? std::string_view() : name.substr(0, dot);
}
std::string_view leaf_of(std::string_view name) {
  const std::size_t dot = name.rfind('.');
  return dot == std::string_view::npos ? name : name.substr(dot + 1);
}

std::vector<std::string_view> words_of(std::string_view leaf) {
  std::vector<std::string_view> words;
  while (!leaf.empty()) {
    const std::size_t end = std::min(leaf.find_first_of("_-"), leaf.size());
    if (end > 0) words.push_back(leaf.substr(0, end));
    leaf.remove_prefix(std::min(end + 1, leaf.size()));
  }
  return words;
}

// Tells whether each word of `wanted` begins a word of `known`, in this order.
bool begins_alike(std::string_view wanted, std::string_view known) {
  const auto words = words_of(wanted), there = words_of(known);
  auto at = there.begin();
  for (const std::string_view word : words) {
    at = std::find_if(at, there.end(),
                      [&](std::string_view each) { return each.starts_with(word); });
    if (at == there.end()) return false;
    ++at;
  }
  return !words.empty();
}

bool are_initials(std::string_view wanted, std::string_view known) {
  std::string initials;
  for (const std::string_view word : words_of(known)) initials += word.front();
  return initials.size() > 1 && wanted == initials;
}

// How far names lie apart: 0 for the same, up to kNear for what somebody may well have meant.
constexpr double kNear = 1;
double strangeness_of_leaves(std::string_view wanted, std::string_view known) {
  if (wanted == known) return 0;
  if (are_initials(wanted, known)) return 0.4;
  if (wanted.size() > 1 && begins_alike(wanted, known))
    return 0.4 + 0.001 * static_cast<double>(known.size());
  const auto letters = static_cast<double>(std::max(wanted.size(), known.size()));
  // Half of the letters may differ.
  return 2 * static_cast<double>(distance(wanted, known)) / std::max(letters, 1.0);
}
double strangeness(std::string_view wanted, std::string_view known) {
  const std::string_view asked = section_of(wanted), there = section_of(known);
  const double letters =
      static_cast<double>(std::max({asked.size(), there.size(), std::size_t{1}}));
  // Another section is a smaller matter than another name.
  return strangeness_of_leaves(leaf_of(wanted), leaf_of(known)) +
         0.3 * static_cast<double>(distance(asked, there)) / letters;
}

template <typename Integer>
Status read_integer(const Json& json, Integer& out) {
  if (!json.is_number_integer()) return fail("must be a whole number");
  const auto read = [&out](auto value) -> Status {
    if (!std::in_range<Integer>(value)) return fail("{} is out of range", value);
    out = static_cast<Integer>(value);
    return ok();
  };
  return json.is_number_unsigned() ? read(json.get<std::uint64_t>())
                                   : read(json.get<std::int64_t>());
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
  return *std::ranges::min_element(
      known, {}, [&](const std::string& name) { return strangeness(wanted, name); });
}

std::optional<std::string> near_name(std::string_view wanted,
                                     const std::vector<std::string>& known) {
  std::string nearest = nearest_name(wanted, known);
  if (strangeness(wanted, nearest) > kNear) return std::nullopt;
  return nearest;
}

std::string suggestion(std::string_view wanted, const std::vector<std::string>& known) {
  const std::string nearest = nearest_name(wanted, known);
  const bool is_near = strangeness(wanted, nearest) <= kNear;
  const std::string_view section = section_of(wanted), leaf = leaf_of(wanted);
  const bool is_moved = leaf == leaf_of(nearest) && words_of(leaf).size() > 1;
  if (is_near && (section.empty() || section == section_of(nearest) || is_moved))
    return fmt::format("did you mean '{}'?", nearest);
  std::vector<std::string_view> names, sections;
  for (const std::string& name : known) {
    if (section_of(name) == section) names.push_back(name);
    if (sections.empty() || sections.back() != section_of(name))
      sections.push_back(section_of(name));
  }
  // A user who names a section that exists means rather one of its names: "model.path" is no answer
  // to "data.path".
  if (is_near && names.empty()) return fmt::format("did you mean '{}'?", nearest);
  if (is_near)
    return fmt::format("did you mean one of {}, or '{}'?", fmt::join(names, ", "), nearest);
  if (names.empty()) return fmt::format("the sections are {}", fmt::join(sections, ", "));
  return fmt::format("there {} {}", are_for(std::ssize(names)), fmt::join(names, ", "));
}

void warn_of_old_name(std::string_view source_name, std::string_view old_name,
                      std::string_view new_name) {
  LOG("{}: '{}' is called '{}' now; the old name goes with the next version", source_name, old_name,
      new_name);
}

// Writes one dotted name a line. That is valid TOML, and it shows each setting in the form that
// --set takes.
std::string toml_from_settings(const Settings& settings) {
  std::string text;
  for (const auto& [name, value] : settings) text += fmt::format("{} = {}\n", name, to_line(value));
  return text;
}

}  // namespace tritonsmith
