// Writes the parts that every --help has: defaults, examples, the exit codes.
#pragma once

#include <string>

#include "cli/call/command.h"

namespace tritonsmith::cli {

// A command line that the command's help shows, without the leading "tritonsmith ".
void add_example(CLI::App& command, const std::string& example);

// Called once all commands are there. Every command without subcommands must have an example.
void complete_help(CLI::App& app);

}  // namespace tritonsmith::cli
