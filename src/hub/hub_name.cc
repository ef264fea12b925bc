#include "hub/hub_name.h"

#include <algorithm>

namespace tritonsmith::hub {
namespace {

constexpr std::size_t kLongest = 96;  // of an owner's or a repository's name

bool is_letter_or_digit(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; }

bool is_part(std::string_view name) {
  if (name.empty() || name.size() > kLongest) return false;
  for (const char c : name)
    if (!is_letter_or_digit(c) && c != '-' && c != '_' && c != '.') return false;
  const auto is_edge = [](char c) { return c == '-' || c == '.'; };
  return !is_edge(name.front()) && !is_edge(name.back()) &&
         name.find("..") == std::string_view::npos && name.find("--") == std::string_view::npos;
}

// A revision becomes a path below refs/, so it must not lead out of there.
bool is_revision(std::string_view revision) {
  if (revision.empty() || revision.front() == '/' || revision.back() == '/') return false;
  if (revision.find("..") != std::string_view::npos ||
      revision.find("//") != std::string_view::npos)
    return false;
  return std::ranges::all_of(revision, [](char c) {
    return is_letter_or_digit(c) || std::string_view("-_./+").find(c) != std::string_view::npos;
  });
}

}  // namespace

std::optional<HubName> parse_hub_name(std::string_view text) {
  HubName name;
  if (const std::size_t at = text.find('@'); at != std::string_view::npos) {
    name.revision = text.substr(at + 1);
    if (!is_revision(name.revision)) return std::nullopt;
    text = text.substr(0, at);
  }
  const std::size_t slash = text.find('/');
  if (slash == std::string_view::npos || !is_part(text.substr(0, slash)) ||
      !is_part(text.substr(slash + 1)))
    return std::nullopt;
  name.id = text;
  return name;
}

bool is_commit(std::string_view revision) {
  constexpr std::size_t kDigits = 40;
  return revision.size() == kDigits && std::ranges::all_of(revision, [](char c) {
           return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
         });
}

}  // namespace tritonsmith::hub
