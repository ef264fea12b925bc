// Torch share: solutions that leave work to torch: right, and yet none. A lazy one computes a
// single operator in its kernel and all others in torch, which policy `open` accepts. In a decoy
// torch computes everything and the kernel is for show, which every policy refuses. Both are as
// short as the compact style.
#pragma once

#include <optional>

#include "curriculum/teacher/solution.h"

namespace tritonsmith::curriculum {

enum class TorchShare { lazy, decoy };

// Of programs without weights and matrix products; lazy ones have at least two operators, of which
// the first or the last is elementwise. Nothing for other programs.
std::optional<Solution> write_with_torch(const Program& program, TorchShare share, Rng& rng);

}  // namespace tritonsmith::curriculum
