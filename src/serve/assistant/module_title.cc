#include "serve/assistant/module_title.h"

#include <algorithm>
#include <cctype>

#include "text/feedback.h"

namespace tritonsmith::serve::assistant {
namespace {

constexpr std::size_t kTitleBytes = 80;  // in bytes

// Returns the text on one line. A longer one ends after a whole word, with an ellipsis.
std::string short_title(std::string_view text) {
  std::string line;
  for (const char c : text) {
    const bool is_space = std::isspace(static_cast<unsigned char>(c)) != 0;
    if (!is_space) line += c;
    if (is_space && !line.empty() && line.back() != ' ') line += ' ';
  }
  while (line.ends_with(' ') || line.ends_with('.')) line.pop_back();
  if (line.size() <= kTitleBytes) return line;
  const std::size_t space = line.rfind(' ', kTitleBytes);
  constexpr const char* ellipsis = "\u2026";
  return space == std::string::npos || space == 0 ? text::one_line(line, kTitleBytes)
                                                  : line.substr(0, space) + ellipsis;
}

// Returns the expression that begins here: up to the end of the line, or of the line in which its
// last bracket closes.
std::string_view expression_at(std::string_view source) {
  int depth = 0;
  for (std::size_t i = 0; i < source.size(); ++i) {
    depth += source[i] == '(' || source[i] == '[' || source[i] == '{' ? 1 : 0;
    depth -= source[i] == ')' || source[i] == ']' || source[i] == '}' ? 1 : 0;
    if (source[i] == '\n' && depth <= 0) return source.substr(0, i);
  }
  return source;
}

}  // namespace

std::string title_of(std::string_view source) {
  const std::size_t begin = source.find_first_not_of(" \t\r\n");
  source.remove_prefix(std::min(begin, source.size()));
  for (const std::string_view mark : {"# instruction: ", "# ", "\"\"\""}) {
    if (!source.starts_with(mark)) continue;
    std::string_view text = source.substr(mark.size());
    text.remove_prefix(std::min(text.find_first_not_of(" \t\r\n"), text.size()));
    std::string title = short_title(text.substr(0, std::min(text.find('\n'), text.find("\"\"\""))));
    if (!title.empty()) return title;
  }
  constexpr std::string_view returns = "return ";
  const std::string_view forward =
      source.substr(std::min(source.find("def forward"), source.size()));
  const std::size_t at = forward.substr(0, forward.find("\ndef ")).find(returns);
  const std::string title = at == std::string_view::npos
                                ? ""
                                : short_title(expression_at(forward.substr(at + returns.size())));
  return title.empty() ? "module" : title;
}

}  // namespace tritonsmith::serve::assistant
