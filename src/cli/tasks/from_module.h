// Adds `tritonsmith tasks from-module`, which writes a class or a function of the user's code as a
// task's file.
#pragma once

#include "cli/call/command.h"

namespace tritonsmith::cli {

void add_from_module_command(CLI::App& tasks, Run& run);

}  // namespace tritonsmith::cli
