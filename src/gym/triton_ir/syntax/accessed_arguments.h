// Finds the arguments of a kernel through which its code may store or load, whatever their values
// and even if no lane of a store is ever active. It serves callers that see memory only before and after a
// launch, because a store of an unchanged value leaves no other trace. The text is hostile. Pure.
#pragma once

#include <string_view>
#include <vector>

namespace tritonsmith::gym::triton_ir {

// The indices of arguments, in order. An atomic counts as a load and as a store.
struct AccessedArguments {
  std::vector<int> loaded, stored;
  // Those of `stored` with a store in the kernel's own body that no branch leaves out. The lanes of
  // such a store may still be masked.
  std::vector<int> unconditionally_stored;
};

// All lists are empty if parsing fails.
AccessedArguments accessed_arguments(std::string_view ttir);

}  // namespace tritonsmith::gym::triton_ir
