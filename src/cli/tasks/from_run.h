// Adds `tritonsmith tasks from-run`, which writes the successes of a run of `rl` as examples for
// `sft`.
#pragma once

#include "cli/call/command.h"

namespace tritonsmith::cli {

void add_from_run_command(CLI::App& tasks, Run& run);

}  // namespace tritonsmith::cli
