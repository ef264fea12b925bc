#include "gym/triton_ir/syntax/scanner.h"

#include <algorithm>
#include <cctype>

namespace tritonsmith::gym::triton_ir {
namespace {

bool is_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.' || c == '$';
}

}  // namespace

void Scanner::skip_blanks() {
  while (peek() == ' ' || peek() == '\t' || peek() == '\r') advance();
  if (looking_at("//"))
    while (!at_line_end()) advance();
}

void Scanner::skip_lines() {
  skip_blanks();
  while (peek() == '\n') {
    advance();
    skip_blanks();
  }
}

bool Scanner::accept(std::string_view literal) {
  skip_blanks();
  if (!looking_at(literal)) return false;
  advance(literal.size());
  return true;
}

Status Scanner::expect(std::string_view literal) {
  if (!accept(literal)) return error(fmt::format("'{}' is missing", literal));
  return ok();
}

std::string_view Scanner::word() {
  std::size_t start = position_;
  while (is_word(peek()) || (peek() == '-' && position_ > start && peek(1) != '>')) advance();
  return text_.substr(start, position_ - start);
}

std::string_view Scanner::keyword() {
  std::size_t start = position_;
  while (is_word(peek())) advance();
  return text_.substr(start, position_ - start);
}

std::optional<std::int64_t> Scanner::integer() {
  std::size_t start = position_;
  std::int64_t value = 0;
  while (std::isdigit(static_cast<unsigned char>(peek())) != 0) {
    if (position_ - start >= 18) return std::nullopt;
    value = 10 * value + (peek() - '0');
    advance();
  }
  if (position_ == start) return std::nullopt;
  return value;
}

Result<std::string> Scanner::string() {
  TRY(expect("\""));
  std::string value;
  while (peek() != '"') {
    if (at_line_end()) return error("a string does not end");
    if (peek() == '\\') {
      advance();
      const auto digit = [](char c) { return std::isxdigit(static_cast<unsigned char>(c)) != 0; };
      if (digit(peek()) && digit(peek(1))) {  // MLIR writes other signs as two digits
        const std::string code = {peek(), peek(1)};
        value += static_cast<char>(std::stoi(code, nullptr, 16));
        advance();
        advance();
        continue;
      }
    }
    value += peek();
    advance();
  }
  advance();
  return value;
}

Result<std::string> Scanner::balanced() {
  skip_blanks();
  std::size_t start = position_;
  std::string open;  // the closing brackets that must come
  while (!at_end()) {
    char c = peek();
    if (c == '"') {
      TRY(string());
      continue;
    }
    if (open.empty() && (c == ',' || c == ')' || c == ']' || c == '}' || c == '>')) break;
    if (c == '-' && peek(1) == '>')
      advance();
    else if (c == '(')
      open += ')';
    else if (c == '[')
      open += ']';
    else if (c == '{')
      open += '}';
    else if (c == '<')
      open += '>';
    else if (!open.empty() && c == open.back())
      open.pop_back();
    advance();
  }
  if (!open.empty()) return error("a bracket does not close");
  std::string_view value = text_.substr(start, position_ - start);
  while (!value.empty() && std::isspace(static_cast<unsigned char>(value.back())) != 0)
    value.remove_suffix(1);
  return std::string(value);
}

int Scanner::line() const {
  std::size_t end = std::min(position_, text_.size());
  return 1 + static_cast<int>(
                 std::count(text_.begin(), text_.begin() + static_cast<std::ptrdiff_t>(end), '\n'));
}

tl::unexpected<Error> Scanner::error(std::string_view what) const {
  return fail("Triton IR, line {}: {}", line(), what);
}

}  // namespace tritonsmith::gym::triton_ir
