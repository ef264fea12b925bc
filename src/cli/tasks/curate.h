// Adds `tritonsmith tasks curate`, which makes training sets from judged answers.
#pragma once

#include "cli/call/command.h"

namespace tritonsmith::cli {

void add_curate_command(CLI::App& tasks, Run& run);

}  // namespace tritonsmith::cli
