// Slips of the pen: code that computes the right thing but for one slip that keeps it from
// compiling: a function's name misspelt, a line forgotten, a parenthesis not closed.
#pragma once

#include <optional>
#include <string>

#include "base/rng.h"

namespace tritonsmith::curriculum {

// Nothing when the code offers no place for one.
std::optional<std::string> with_slip(const std::string& code, Rng& rng);

}  // namespace tritonsmith::curriculum
