// Finds atomics whose scope is one program (`scope="cta"`). To the other programs of a launch they
// are plain reads and writes and order nothing. The text is hostile. Pure.
#pragma once

#include <string_view>

#include "gym/triton_ir/syntax/syntax.h"

namespace tritonsmith::gym::triton_ir {

bool is_of_one_program(const Operation& atomic);

// Tells whether a kernel has such an atomic anywhere. It serves callers that cannot see the
// addresses. It also returns true for a text that mentions scopes and does not parse.
bool has_atomics_of_one_program(std::string_view ttir);

}  // namespace tritonsmith::gym::triton_ir
