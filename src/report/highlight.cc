#include "report/highlight.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>

#include "report/html.h"

namespace tritonsmith::report {
namespace {

constexpr auto kKeywords = std::to_array<std::string_view>(
    {"False", "None",     "True",  "and",    "as",   "assert", "async",  "await",    "break",
     "class", "continue", "def",   "del",    "elif", "else",   "except", "finally",  "for",
     "from",  "global",   "if",    "import", "in",   "is",     "lambda", "nonlocal", "not",
     "or",    "pass",     "raise", "return", "try",  "while",  "with",   "yield"});

bool begins_word(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_'; }
bool is_in_word(char c) {
  return begins_word(c) || std::isdigit(static_cast<unsigned char>(c)) != 0;
}

std::size_t while_in_word(std::string_view text, std::size_t at) {
  while (at < text.size() && is_in_word(text[at])) ++at;
  return at;
}

// Returns the end of the string whose quote is at `at`. An unclosed string ends with its line, and
// an unclosed triple-quoted one with the text.
std::size_t end_of_string(std::string_view text, std::size_t at) {
  const char quote = text[at];
  const std::string triple(3, quote);
  if (text.substr(at, 3) == triple) {
    std::size_t end = at + 3;
    while (end < text.size() && text.substr(end, 3) != triple) end += text[end] == '\\' ? 2 : 1;
    return std::min(end + 3, text.size());
  }
  std::size_t end = at + 1;
  while (end < text.size() && text[end] != quote && text[end] != '\n')
    end += text[end] == '\\' ? 2 : 1;
  return std::min(end + (end < text.size() && text[end] == quote ? 1 : 0), text.size());
}

bool begins_string(std::string_view text, std::size_t at) {
  // Up to two letters may stand before the quote: r, b, f, rb.
  for (std::size_t prefix = 0; prefix <= 2 && at + prefix < text.size(); ++prefix) {
    const char c = text[at + prefix];
    if (c == '"' || c == '\'') return true;
    if (std::string_view("rRbBfFuU").find(c) == std::string_view::npos) return false;
  }
  return false;
}

struct Piece {
  std::string_view css;  // empty: plain
  std::size_t end = 0;
};

// Returns the piece of code that begins at `at`. `after_def`
// tells whether "def" or "class" is right before it.
Piece piece_at(std::string_view text, std::size_t at, bool after_def) {
  const char c = text[at];
  if (c == '#') return {"com", std::min(text.find('\n', at), text.size())};
  if (begins_string(text, at)) return {"str", end_of_string(text, text.find_first_of("\"'", at))};
  if (c == '@') return {"at", while_in_word(text, at + 1)};
  if (std::isdigit(static_cast<unsigned char>(c)) != 0) {
    std::size_t end = at;
    while (end < text.size() && (is_in_word(text[end]) || text[end] == '.')) ++end;
    return {"num", end};
  }
  if (!begins_word(c)) return {"", at + 1};
  const std::size_t end = while_in_word(text, at);
  if (std::ranges::find(kKeywords, text.substr(at, end - at)) != kKeywords.end())
    return {"key", end};
  const bool is_called = end < text.size() && text[end] == '(';
  return {after_def || is_called ? "fun" : "", end};
}

// Appends one span for each line, so that a line can be marked.
void append_spans(std::string& html, std::string_view css, std::string_view text) {
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view line = text.substr(at, end - at);
    if (!line.empty())
      html += css.empty() ? escape(line)
                          : fmt::format("<span class=\"{}\">{}</span>", css, escape(line));
    if (end == text.size()) return;
    html += '\n';
    at = end + 1;
  }
}

std::string mark_line(const std::string& html, int wanted) {
  std::size_t begin = 0;
  for (int line = 1; line < wanted; ++line) {
    begin = html.find('\n', begin);
    if (begin == std::string::npos) return html;
    ++begin;
  }
  const std::size_t end = std::min(html.find('\n', begin), html.size());
  return fmt::format("{}<span class=\"here\">{}</span>{}", html.substr(0, begin),
                     html.substr(begin, end - begin), html.substr(end));
}

}  // namespace

std::string highlighted(std::string_view source, int marked_line) {
  std::string html;
  std::size_t plain = 0;  // the begin of the text without colour
  bool after_def = false;
  for (std::size_t at = 0; at < source.size();) {
    const Piece piece = piece_at(source, at, after_def);
    const std::string_view text = source.substr(at, piece.end - at);
    if (!piece.css.empty()) {
      append_spans(html, "", source.substr(plain, at - plain));
      append_spans(html, piece.css, text);
      plain = piece.end;
    }
    const bool is_space = text.find_first_not_of(" \t") == std::string_view::npos;
    after_def = text == "def" || text == "class" || (after_def && is_space);
    at = piece.end;
  }
  append_spans(html, "", source.substr(plain));
  return marked_line > 0 ? mark_line(html, marked_line) : html;
}

}  // namespace tritonsmith::report
