// Makes programs that are nearly right. An operator is missing, replaced by another, or has another
// constant.
#pragma once

#include <optional>

#include "base/rng.h"
#include "curriculum/program.h"

namespace tritonsmith::curriculum {

// Returns a program with the same inputs and another result; try_out (trial.h) confirms that the
// results differ. Returns nothing if no such change is found.
std::optional<Program> with_mistake(const Program& program, Rng& rng);

}  // namespace tritonsmith::curriculum
