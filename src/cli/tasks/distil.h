// Adds `tritonsmith tasks distil`: a teacher writes kernels for the tasks of a suite, which are
// judged and repaired.
#pragma once

#include "cli/call/command.h"

namespace tritonsmith::cli {

void add_distil_command(CLI::App& tasks, Run& run);

}  // namespace tritonsmith::cli
