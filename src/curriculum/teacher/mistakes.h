// Mistakes: programs that are nearly right: an operator forgotten, mistaken for another, or with
// another constant.
#pragma once

#include <optional>

#include "base/rng.h"
#include "curriculum/program.h"

namespace tritonsmith::curriculum {

// The same inputs, another result: try_out (trial.h) tells them apart. Nothing when no such change
// was found.
std::optional<Program> with_mistake(const Program& program, Rng& rng);

}  // namespace tritonsmith::curriculum
