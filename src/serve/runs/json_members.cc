#include "serve/runs/json_members.h"

#include <algorithm>
#include <array>

namespace tritonsmith::serve::runs {
namespace {

constexpr auto kNone = std::string_view::npos;

std::size_t skip_space(std::string_view text, std::size_t at) {
  return std::min(text.find_first_not_of(" \t\r\n", at), text.size());
}

// Returns the position after the string that begins at `at`.
std::size_t end_of_string(std::string_view text, std::size_t at) {
  for (std::size_t quote = text.find('"', at + 1); quote != kNone;
       quote = text.find('"', quote + 1)) {
    std::size_t escapes = 0;
    while (text[quote - 1 - escapes] == '\\') ++escapes;  // the opening quote ends this
    if (escapes % 2 == 0) return quote + 1;
  }
  return kNone;
}

// Says for each byte whether the text of an array or object may not just be passed over.
constexpr std::array<bool, 256> kStops = [] {
  std::array<bool, 256> stops{};
  for (const char c : {'"', '[', ']', '{', '}'}) stops[static_cast<unsigned char>(c)] = true;
  return stops;
}();

// Returns the position after the array or object that begins at `at`.
std::size_t end_of_nested(std::string_view text, std::size_t at) {
  for (int depth = 0; at < text.size();) {
    const char c = text[at];
    if (!kStops[static_cast<unsigned char>(c)]) {
      ++at;
    } else if (c == '"') {
      at = end_of_string(text, at);
    } else {
      ++at;
      depth += c == '[' || c == '{' ? 1 : -1;
      if (depth == 0) return at;
    }
  }
  return kNone;
}

// Returns the position after the value that begins at `at`, or kNone if none ends.
std::size_t end_of_value(std::string_view text, std::size_t at) {
  if (at >= text.size()) return kNone;
  if (text[at] == '"') return end_of_string(text, at);
  if (text[at] == '[' || text[at] == '{') return end_of_nested(text, at);
  return text.find_first_of(",]} \t\r\n", at);
}

}  // namespace

std::optional<JsonMembers> JsonMembers::of(std::string_view text) {
  JsonMembers found;
  std::size_t at = skip_space(text, 0);
  if (at == text.size() || text[at] != '{') return std::nullopt;
  at = skip_space(text, at + 1);
  if (at < text.size() && text[at] == '}') return found;
  while (at < text.size() && text[at] == '"') {
    const std::size_t name = at + 1, name_end = end_of_string(text, at);
    if (name_end == kNone) return std::nullopt;
    const std::size_t colon = skip_space(text, name_end);
    if (colon == text.size() || text[colon] != ':') return std::nullopt;
    const std::size_t value = skip_space(text, colon + 1), end = end_of_value(text, value);
    if (end == kNone || end == value) return std::nullopt;
    found.members_.emplace_back(text.substr(name, name_end - 1 - name),
                                text.substr(value, end - value));
    at = skip_space(text, end);
    if (at == text.size()) return std::nullopt;
    if (text[at] == '}') return found;
    if (text[at] != ',') return std::nullopt;
    at = skip_space(text, at + 1);
  }
  return std::nullopt;
}

std::string_view JsonMembers::get(std::string_view name) const {
  for (std::size_t i = members_.size(); i-- > 0;)
    if (members_[i].first == name) return members_[i].second;
  return {};
}

std::optional<std::int64_t> count_elements(std::string_view text) {
  if (!text.starts_with('[')) return std::nullopt;
  std::int64_t count = 0;
  for (std::size_t at = skip_space(text, 1); at < text.size() && text[at] != ']';) {
    const std::size_t end = end_of_value(text, at);
    if (end == kNone || end == at) return std::nullopt;
    ++count;
    at = skip_space(text, end);
    if (at < text.size() && text[at] == ',') at = skip_space(text, at + 1);
  }
  return count;
}

}  // namespace tritonsmith::serve::runs
