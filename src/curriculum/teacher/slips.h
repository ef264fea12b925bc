// Spoils correct code by one slip that keeps it from compiling. The slip is a misspelt function
// name, a missing line, or a parenthesis that is not closed.
#pragma once

#include <optional>
#include <string>

#include "base/rng.h"

namespace tritonsmith::curriculum {

// Returns nothing if the code has no line for a slip.
std::optional<std::string> with_slip(const std::string& code, Rng& rng);

}  // namespace tritonsmith::curriculum
