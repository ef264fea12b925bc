// TritonLanguage: Triton IR behind the seam `Language`.
#pragma once

#include "gym/language/language.h"

namespace tritonsmith::gym::language::triton {

const Language& triton_language();

}  // namespace tritonsmith::gym::language::triton
