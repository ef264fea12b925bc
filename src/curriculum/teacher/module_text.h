// Writes the PyTorch side of a solution. It consists of the imports, the kernels, and ModelNew with
// its weights, allocations and launches.
#pragma once

#include <string>
#include <vector>

#include "curriculum/teacher/kernel_text.h"

namespace tritonsmith::curriculum {

struct Launch {
  Piece piece;
  KernelText kernel;
};

// Writes a module with one launch, or with two launches that share a temporary tensor.
std::string module_text(const Program& program, const std::vector<Launch>& launches, bool terse);

}  // namespace tritonsmith::curriculum
