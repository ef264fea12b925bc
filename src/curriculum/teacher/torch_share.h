// Makes solutions with correct results that leave their work to torch. A lazy solution computes a
// single operator in its kernel and all others in torch. Policy `open` accepts it. In a decoy torch
// computes everything and the kernel has no effect. Every policy refuses it. Both are as short as
// the compact style.
#pragma once

#include <optional>

#include "curriculum/teacher/solution.h"

namespace tritonsmith::curriculum {

enum class TorchShare { lazy, decoy };

// Writes a solution for a program without weights and matrix products. A lazy one needs at least
// two operators, and the first or the last must be elementwise. Returns nothing for other programs.
std::optional<Solution> write_with_torch(const Program& program, TorchShare share, Rng& rng);

}  // namespace tritonsmith::curriculum
