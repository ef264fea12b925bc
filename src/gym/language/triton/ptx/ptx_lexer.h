// Splits PTX into tokens. It knows only the signs that Triton writes.
#pragma once

#include "gym/language/triton/ptx/ptx_text.h"

namespace tritonsmith::gym::language::triton::ptx {

// Comments end at their line and are left out. A token is a word with its dots (`ld.global.b32`,
// `%tid.x`, `.reg`), a number, the string "nounroll", or one sign. Fails with the line of a sign
// that is none of these.
Result<std::vector<PtxToken>> tokens_of(std::string_view text);

}  // namespace tritonsmith::gym::language::triton::ptx
