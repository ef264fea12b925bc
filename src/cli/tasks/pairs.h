// Adds `tritonsmith tasks pairs`, which makes Triton solutions of PyTorch modules by Inductor and
// judges them.
#pragma once

#include "cli/call/command.h"

namespace tritonsmith::cli {

void add_pairs_command(CLI::App& tasks, Run& run);

}  // namespace tritonsmith::cli
