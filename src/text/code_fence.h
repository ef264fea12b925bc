// Finds code fences of Markdown. A fence begins with a line of three or more backticks or tildes.
// It ends with a line of at least as many of the same (CommonMark 4.5). Fences within lists or
// quotes are not found. The functions are pure and accept hostile text.
#pragma once

#include <string_view>
#include <vector>

#include "data/kernel.h"

namespace tritonsmith::text {

struct CodeFence {
  Span whole;   // both fence lines included
  Span inside;  // the lines between them, each with its newline
  std::string_view language;
  bool closed = false;  // false: it extends to the end of the range

  // Marked as Python, or without a mark.
  bool is_python() const;
};

// Returns the fences of text[range] in order.
std::vector<CodeFence> find_fences(std::string_view text, Span range);

}  // namespace tritonsmith::text
