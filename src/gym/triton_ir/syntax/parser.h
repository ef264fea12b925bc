// Parser of Triton IR's text, as `asm["ttir"]` holds it. Hostile input: nesting, counts and sizes
// are capped, and anything unexpected is one error line with the line of the IR. It knows the
// syntax, not the operations: only functions, control flow and operations in generic form
// ("tt.reduce") have their own rules, everything else is read by one loose rule, so an operation we
// never saw still parses and can be named.
#pragma once

#include <string_view>

#include "gym/triton_ir/syntax/syntax.h"

namespace tritonsmith::gym::triton_ir {

Result<Module> parse_module(std::string_view text);

}  // namespace tritonsmith::gym::triton_ir
