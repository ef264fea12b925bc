// Inductor: the names of PyTorch's compiler that its generated code uses, as KernelBook holds it.
// The capture has stand-ins for them. They allocate, call ATen's operators, and launch Triton
// kernels that stand in the file, some of them as strings. Nothing else of the compiler is allowed.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "inspect/candidate.h"

namespace tritonsmith::inspect {

// Tells whether generated code uses this name of torch._inductor, torch._C or Triton's compiler.
bool is_name_of_generated_code(std::string_view path);

// A kernel in a string: async_compile.triton("name", '''...''').
struct KernelText {
  std::string text;
  int line = 0;  // of the file, where the text begins
};
std::vector<KernelText> kernel_texts(const Candidate& candidate);

}  // namespace tritonsmith::inspect
