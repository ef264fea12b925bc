// Module text: the PyTorch side of a solution: imports, kernels, and ModelNew with its weights,
// allocations and launches.
#pragma once

#include <string>
#include <vector>

#include "curriculum/teacher/kernel_text.h"

namespace tritonsmith::curriculum {

struct Launch {
  Piece piece;
  KernelText kernel;
};

// One launch, or two that meet at a temporary.
std::string module_text(const Program& program, const std::vector<Launch>& launches, bool terse);

}  // namespace tritonsmith::curriculum
