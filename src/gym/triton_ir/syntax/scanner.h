// Scanner: a cursor over the text of Triton IR. It knows the few shapes that all of it is made of
// (names, numbers, strings, balanced brackets), and that a newline ends an operation. Never reads
// past the end, whatever the text.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"

namespace tritonsmith::gym::triton_ir {

class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {}

  // Spaces, tabs and `//` comments; skip_lines also newlines.
  void skip_blanks();
  void skip_lines();

  bool at_end() const { return position_ >= text_.size(); }
  bool at_line_end() const { return at_end() || peek() == '\n'; }
  char peek(std::size_t ahead = 0) const {
    return position_ + ahead < text_.size() ? text_[position_ + ahead] : '\0';
  }
  bool looking_at(std::string_view literal) const {
    return text_.substr(std::min(position_, text_.size())).starts_with(literal);
  }
  void advance(std::size_t by = 1) { position_ = std::min(position_ + by, text_.size()); }

  // Skips blanks; true and past it when the literal comes next.
  bool accept(std::string_view literal);
  Status expect(std::string_view literal);

  // Letters, digits, '_', '.', '$', '-' inside names ("c-1_i32"); empty when none comes.
  std::string_view word();
  // Letters, digits, '_' and '.' alone, as operation names and keywords are.
  std::string_view keyword();
  // A decimal integer without sign.
  std::optional<std::int64_t> integer();
  // A "quoted string" with its escapes resolved.
  Result<std::string> string();
  // Text up to the first ',' or closing bracket at depth 0, with strings and brackets inside
  // balanced.
  Result<std::string> balanced();

  // The line of the text that the cursor is in, from 1; for error messages.
  int line() const;
  tl::unexpected<Error> error(std::string_view what) const;

 private:
  std::string_view text_;
  std::size_t position_ = 0;
};

}  // namespace tritonsmith::gym::triton_ir
