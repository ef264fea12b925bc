#include "text/code_fence.h"

#include <algorithm>
#include <array>
#include <string>

namespace tritonsmith::text {
namespace {

struct FenceLine {
  char mark = 0;  // '`' or '~'; 0 if the line is no fence
  std::size_t length = 0;
  std::string_view info;
};

std::string_view strip(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t\r\n");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t\r\n") - begin + 1);
}

FenceLine read_fence_line(std::string_view line) {
  const std::size_t indent = line.find_first_not_of(' ');
  if (indent == std::string_view::npos || indent > 3) return {};
  const char mark = line[indent];
  if (mark != '`' && mark != '~') return {};
  const std::size_t after = std::min(line.find_first_not_of(mark, indent), line.size());
  if (after - indent < 3) return {};
  const std::string_view info = strip(line.substr(after));
  if (mark == '`' && info.find('`') != std::string_view::npos) return {};  // this is inline code
  return {mark, after - indent, info};
}

}  // namespace

bool CodeFence::is_python() const {
  constexpr auto kNames =
      std::to_array<std::string_view>({"", "python", "py", "python3", "triton"});
  std::string lower(language);
  std::ranges::transform(lower, lower.begin(), [](unsigned char c) { return std::tolower(c); });
  return std::ranges::find(kNames, lower) != kNames.end();
}

std::vector<CodeFence> find_fences(std::string_view text, Span range) {
  std::vector<CodeFence> fences;
  FenceLine open;
  for (std::size_t at = range.begin; at < range.end;) {
    const std::size_t end = std::min(text.find('\n', at), range.end - 1) + 1;
    const FenceLine line = read_fence_line(text.substr(at, end - at));
    if (open.mark == 0 && line.mark != 0) {
      open = line;
      const std::string_view language = line.info.substr(0, line.info.find_first_of(" \t{"));
      fences.push_back(
          {.whole = {at, range.end}, .inside = {end, range.end}, .language = language});
    } else if (open.mark != 0 && line.mark == open.mark && line.length >= open.length &&
               line.info.empty()) {
      fences.back().whole.end = end;
      fences.back().inside.end = at;
      fences.back().closed = true;
      open = {};
    }
    at = end;
  }
  return fences;
}

}  // namespace tritonsmith::text
