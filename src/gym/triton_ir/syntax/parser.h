// Parses Triton IR's text, as `asm["ttir"]` holds it. The input is hostile: nesting, counts and
// sizes are limited, and unexpected text gives one error with the IR's line. The parser knows the
// syntax, not the operations. Only functions, control flow and operations in generic form
// ("tt.reduce") have rules of their own. One loose rule reads all others, so an unknown operation
// still parses and can be named.
#pragma once

#include <string_view>

#include "gym/triton_ir/syntax/syntax.h"

namespace tritonsmith::gym::triton_ir {

Result<Module> parse_module(std::string_view text);

}  // namespace tritonsmith::gym::triton_ir
