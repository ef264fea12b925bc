// Adds `tritonsmith tasks lint`, which says what the judge finds about tasks themselves, and how
// many of their faults its trials tell apart.
#pragma once

#include "cli/call/command.h"

namespace tritonsmith::cli {

void add_lint_command(CLI::App& tasks, Run& run);

}  // namespace tritonsmith::cli
