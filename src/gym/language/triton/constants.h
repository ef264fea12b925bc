// Finds the numbers that Triton IR writes out. The text is hostile. Pure.
#pragma once

#include <string_view>
#include <vector>

namespace tritonsmith::gym::language::triton {

// Returns `5` of `arith.constant 5 : i32`, and `1.0e+00` of
// `arith.constant dense<1.0e+00> : tensor<8xf32>`.
std::vector<std::string_view> constants(std::string_view ir);

}  // namespace tritonsmith::gym::language::triton
