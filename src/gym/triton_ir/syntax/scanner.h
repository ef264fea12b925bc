// Scanner: a cursor over the text of Triton IR. It knows names, numbers, strings and balanced
// brackets, and that a newline ends an operation. It never reads past the end.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"

namespace tritonsmith::gym::triton_ir {

class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {}

  // Skips spaces, tabs and `//` comments. skip_lines also skips newlines.
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

  // Skips blanks. If the literal comes next, it skips that too and returns true.
  bool accept(std::string_view literal);
  Status expect(std::string_view literal);

  // Reads letters, digits, '_', '.', '$' and inner '-' of a name ("c-1_i32"), or nothing.
  std::string_view word();
  // Reads only letters, digits, '_' and '.', as in operation names and keywords.
  std::string_view keyword();
  // Reads a decimal integer without sign.
  std::optional<std::int64_t> integer();
  // Reads a "quoted string" and resolves its escapes.
  Result<std::string> string();
  // Reads up to the first ',' or closing bracket at depth 0. All inside must be balanced.
  Result<std::string> balanced();

  // Returns the cursor's line in the text, from 1, for error messages.
  int line() const;
  tl::unexpected<Error> error(std::string_view what) const;

 private:
  std::string_view text_;
  std::size_t position_ = 0;
};

}  // namespace tritonsmith::gym::triton_ir
