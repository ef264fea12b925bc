// Runs another program that reads one JSON question from standard input and writes one JSON answer
// to standard output. The program ends with the call. It inherits no environment but the locale
// C.UTF-8. The call fails if the program fails, takes too long or answers with something else.
#pragma once

#include <string>
#include <vector>

#include "base/clock.h"
#include "base/json.h"

namespace tritonsmith {

// argv[0] is a path, or a name that PATH knows.
Result<Json> ask_program(const std::vector<std::string>& argv, const Json& question,
                         Deadline deadline);

}  // namespace tritonsmith
