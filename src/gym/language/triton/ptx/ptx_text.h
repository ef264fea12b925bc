// Checks a kernel's PTX that somebody edited. Any bytes may come in. The check allows what Triton's
// own output holds, and refuses everything else with its line: calls, traps, other state spaces and
// special registers, data, further functions. What lies around the kernel's body must be that of
// the original, token by token. It cannot know which addresses a kernel reaches (docs/ptx.md).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace tritonsmith::gym::language::triton::ptx {

namespace ptx_limits {
inline constexpr std::size_t kBytes = std::size_t{1} << 20;
inline constexpr std::size_t kStatements = 50000;
inline constexpr std::size_t kDepth = 4;           // of braces within the body
inline constexpr std::int64_t kRegisters = 65536;  // of one declaration
}  // namespace ptx_limits

struct PtxToken {
  std::string_view text;
  int line = 1;
};

// A text that holds one kernel and nothing that is not allowed.
struct PtxText {
  // All tokens before the body, and the declarations of local memory. They say what the kernel is
  // called, how it is launched and what memory it has.
  std::vector<PtxToken> frame;
  std::size_t statements = 0;
};

// The views in the result point into `text`.
Result<PtxText> read_ptx(std::string_view text);

// Fails unless both texts are allowed and have the same frame.
Status check_edited_ptx(std::string_view original, std::string_view edited);

}  // namespace tritonsmith::gym::language::triton::ptx
