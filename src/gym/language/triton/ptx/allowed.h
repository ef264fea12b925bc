// Lists the words that edited PTX may use: those of Triton's output for Hopper and its neighbours.
#pragma once

#include <string_view>

namespace tritonsmith::gym::language::triton::ptx {

// The first part of an instruction: "ld" of ld.global.b32.
bool is_allowed_operation(std::string_view name);
// A further part: "global", "L2::evict_last", "v4", "m16n8k16".
bool is_allowed_modifier(std::string_view name);
// A register that the hardware fills: "%tid.x".
bool is_allowed_special_register(std::string_view name);
// A register's type in a declaration: ".b32".
bool is_register_type(std::string_view name);

}  // namespace tritonsmith::gym::language::triton::ptx
