// SplitPattern: a compiled regular expression that finds the pieces of a text before BPE. It is
// immutable, so any number of threads may search with it. Compiling fails for patterns that cannot
// match as in `tokenizers`.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace tritonsmith::text {

struct ByteRange {
  std::size_t begin = 0, end = 0;
};

class SplitPattern {
 public:
  // `pattern` is in Oniguruma's dialect, as in tokenizer.json.
  static Result<SplitPattern> from_regex(std::string_view pattern);
  static Result<SplitPattern> from_literal(std::string_view literal);

  // Returns the matches in valid UTF-8 text from left to right, without overlaps and empty matches.
  std::vector<ByteRange> find_all(std::string_view text) const;

 private:
  struct Code;  // PCRE2's program and its just-in-time compiled form
  explicit SplitPattern(std::shared_ptr<const Code> code) : code_(std::move(code)) {}
  static Result<SplitPattern> compile(const std::string& pcre2_pattern, std::string_view original);

  std::shared_ptr<const Code> code_;
};

}  // namespace tritonsmith::text
