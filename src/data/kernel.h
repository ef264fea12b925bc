// Kernel: a candidate's Python source, extracted from a completion. It also says where the source
// and the thinking before it stand in the completion.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "data/finding.h"

namespace tritonsmith {

// A half-open range of a completion: bytes of its text, or indices of its tokens.
struct Span {
  std::size_t begin = 0, end = 0;
  bool empty() const { return begin == end; }
  bool operator==(const Span&) const = default;
};

struct Kernel {
  std::string source;  // empty if the completion has none; `findings` then says why
  Span code_bytes, code_tokens;
  Span thinking_bytes, thinking_tokens;  // the thinking before the code; empty if there is none
  std::vector<Finding> findings;         // ambiguous or missing blocks
};

}  // namespace tritonsmith
