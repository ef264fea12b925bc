// Kernel: a candidate's Python source as extracted from a completion, with where it and the plan
// before it stand.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "data/finding.h"

namespace tritonsmith {

// Half-open ranges of a completion: bytes of its text, or indices of its tokens.
struct Span {
  std::size_t begin = 0, end = 0;
  bool empty() const { return begin == end; }
  bool operator==(const Span&) const = default;
};

struct Kernel {
  std::string source;  // empty when none was found; `findings` then says why
  Span code_bytes, code_tokens;
  Span plan_bytes, plan_tokens;   // the thinking before the code; empty where there is none
  std::vector<Finding> findings;  // ambiguous or missing blocks
};

}  // namespace tritonsmith
