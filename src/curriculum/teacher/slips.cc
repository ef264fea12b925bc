#include "curriculum/teacher/slips.h"

#include <algorithm>
#include <cctype>
#include <string_view>
#include <vector>

namespace tritonsmith::curriculum {
namespace {

// Returns the positions after the last character of each name that is called as tl.name(...).
std::vector<std::size_t> ends_of_calls(const std::string& code) {
  std::vector<std::size_t> ends;
  for (std::size_t at = code.find("tl."); at != std::string::npos; at = code.find("tl.", at + 1)) {
    std::size_t end = at + 3;
    while (end < code.size() &&
           (std::isalnum(static_cast<unsigned char>(code[end])) || code[end] == '_'))
      ++end;
    if (end < code.size() && code[end] == '(') ends.push_back(end);
  }
  return ends;
}

// The begin and end of a line that contains `part`, its newline included.
struct LineSpan {
  std::size_t begin, end;
};
std::vector<LineSpan> lines_with(const std::string& code, std::string_view part) {
  std::vector<LineSpan> lines;
  for (std::size_t begin = 0; begin < code.size();) {
    const std::size_t end = std::min(code.find('\n', begin), code.size() - 1) + 1;
    if (std::string_view(code).substr(begin, end - begin).find(part) != std::string_view::npos)
      lines.push_back({begin, end});
    begin = end;
  }
  return lines;
}

// Doubles a letter. No name of triton.language ends in this way.
std::optional<std::string> misspelt(std::string code, Rng& rng) {
  const auto ends = ends_of_calls(code);
  if (ends.empty()) return std::nullopt;
  const std::size_t end = rng.pick(ends);
  code.insert(end, 1, code[end - 1]);
  return code;
}

// Omits the line that defines the mask.
std::optional<std::string> forgetful(std::string code) {
  for (const char* part : {" m = ", " mask = "})
    if (const auto lines = lines_with(code, part); !lines.empty())
      return code.erase(lines[0].begin, lines[0].end - lines[0].begin);
  return std::nullopt;
}

std::optional<std::string> unclosed(std::string code, Rng& rng) {
  const auto lines = lines_with(code, "tl.load(");
  if (lines.empty()) return std::nullopt;
  const LineSpan line = rng.pick(lines);
  const std::size_t close = code.rfind(')', line.end);
  if (close == std::string::npos || close < line.begin) return std::nullopt;
  return code.erase(close, 1);
}

}  // namespace

std::optional<std::string> with_slip(const std::string& code, Rng& rng) {
  switch (rng.below(3)) {
    case 0:
      return misspelt(code, rng);
    case 1:
      return forgetful(code);
    default:
      return unclosed(code, rng);
  }
}

}  // namespace tritonsmith::curriculum
