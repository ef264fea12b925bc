#include "gym/language/triton/locations.h"

#include <algorithm>
#include <cctype>
#include <charconv>

namespace tritonsmith::gym::language::triton {
namespace {

constexpr std::size_t kNone = std::string_view::npos;

// Returns the position behind the closing quote of the string that begins at `at`, or kNone if its
// line does not close it.
std::size_t skip_string(std::string_view text, std::size_t at) {
  for (++at; at < text.size() && text[at] != '\n'; ++at) {
    if (text[at] == '\\')
      ++at;
    else if (text[at] == '"')
      return at + 1;
  }
  return kNone;
}

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

// Returns the position behind the parenthesis that closes the one at `at`. Returns kNone if it
// encloses anything but names, locations in files and nested locations.
std::size_t skip_location(std::string_view text, std::size_t at) {
  constexpr std::string_view kSigns = "#:,[] ";
  int depth = 0;
  while (at < text.size()) {
    if (text[at] == '"') {
      at = skip_string(text, at);
      if (at == kNone) return kNone;
      continue;
    }
    if (text[at] == '(')
      ++depth;
    else if (text[at] == ')')
      --depth;
    else if (!is_word(text[at]) && kSigns.find(text[at]) == kNone)
      return kNone;
    ++at;
    if (depth == 0) return at;
  }
  return kNone;
}

// Returns where the parentheses of an alias `#loc12 = loc(` begin, or kNone.
std::size_t location_alias(std::string_view line) {
  constexpr std::string_view kName = "#loc", kValue = " = loc(";
  if (!line.starts_with(kName)) return kNone;
  std::size_t at = kName.size();
  while (at < line.size() && line[at] >= '0' && line[at] <= '9') ++at;
  if (!line.substr(at).starts_with(kValue)) return kNone;
  return at + kValue.size() - 1;
}

// Returns the position behind the comment at `at`, or kNone if Triton's printer does not write such
// a comment. It writes `// 2 preds: ^bb1, ^bb2` beside the name of a block.
std::size_t skip_comment(std::string_view text, std::size_t at) {
  constexpr std::string_view kSigns = "^:, ";
  for (at += 2; at < text.size() && text[at] != '\n'; ++at)
    if (!is_word(text[at]) && kSigns.find(text[at]) == kNone) return kNone;
  return at;
}

}  // namespace

Result<std::string> without_locations(std::string_view ir) {
  std::string kept;
  kept.reserve(ir.size());
  std::size_t end = 0;
  for (std::size_t at = 0; at < ir.size(); at = end) {
    const bool line_begins = at == 0 || ir[at - 1] == '\n';
    const std::size_t alias = line_begins ? location_alias(ir.substr(at)) : kNone;
    bool keeps = false;
    if (alias != kNone) {
      end = skip_location(ir, at + alias);
    } else if (ir.substr(at).starts_with(" loc(")) {
      end = skip_location(ir, at + 4);
    } else {
      keeps = true;
      if (ir[at] == '"')
        end = skip_string(ir, at);
      else
        end = ir.substr(at).starts_with("//") ? skip_comment(ir, at) : at + 1;
    }
    if (end == kNone)
      return fail("line {} holds a string, a comment or a location that Triton does not write",
                  std::count(ir.begin(), ir.begin() + static_cast<std::ptrdiff_t>(at), '\n') + 1);
    if (keeps) kept.append(ir.substr(at, end - at));
  }
  return kept;
}

int first_line(std::string_view ir) {
  constexpr std::string_view kBegin = "loc(\"";
  for (std::size_t at = ir.find(kBegin); at != kNone; at = ir.find(kBegin, at + 1)) {
    const std::size_t end = skip_string(ir, at + kBegin.size() - 1);
    if (end == kNone || !ir.substr(end).starts_with(':')) continue;  // a name, not a file
    int line = 0;
    std::from_chars(ir.data() + end + 1, ir.data() + ir.size(), line);
    return std::max(line, 0);
  }
  return 0;
}

}  // namespace tritonsmith::gym::language::triton
