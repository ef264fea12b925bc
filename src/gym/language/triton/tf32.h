// Finds products of float32 tensors that tensor cores compute in TF32. The text is hostile. Pure.
#pragma once

#include <string_view>

namespace tritonsmith::gym::language::triton {

bool multiplies_in_tf32(std::string_view ir);

}  // namespace tritonsmith::gym::language::triton
