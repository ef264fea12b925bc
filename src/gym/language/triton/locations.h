// Removes or reads the locations in the candidate's source that Triton IR names as `loc(...)`. The
// text is hostile. Pure.
#pragma once

#include <string>
#include <string_view>

#include "base/error.h"

namespace tritonsmith::gym::language::triton {

// Returns the IR text without location aliases and `loc(...)`. Text inside strings stays. Fails
// where the text is not as Triton's printer writes it. Otherwise this function could remove, as a
// location, text that a compiler reads as code.
Result<std::string> without_locations(std::string_view ir);

// Returns the line of the first location that names a file, which is where the kernel begins, or 0
// if there is none.
int first_line(std::string_view ir);

}  // namespace tritonsmith::gym::language::triton
