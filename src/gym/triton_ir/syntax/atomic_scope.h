// Atomics whose scope is one program (`scope="cta"`): to the other programs of a launch they are no
// atomics, and order nothing. Hostile text; pure.
#pragma once

#include <string_view>

#include "gym/triton_ir/syntax/syntax.h"

namespace tritonsmith::gym::triton_ir {

bool is_of_one_program(const Operation& atomic);

// Whether a kernel has such an atomic anywhere. For who cannot tell what it touches. True, too, of
// a text that mentions scopes and does not parse.
bool has_atomics_of_one_program(std::string_view ttir);

}  // namespace tritonsmith::gym::triton_ir
