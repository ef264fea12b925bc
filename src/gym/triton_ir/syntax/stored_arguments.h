// Which of a kernel's arguments its code may store through, whatever they hold and whether or not
// any lane of a store is ever active. For who sees memory only before and after a launch: a store
// of what was there already leaves no other trace. Hostile text; pure.
#pragma once

#include <string_view>
#include <vector>

namespace tritonsmith::gym::triton_ir {

// By their places, in order; atomics store, too. None where the text does not parse.
std::vector<int> stored_arguments(std::string_view ttir);

}  // namespace tritonsmith::gym::triton_ir
