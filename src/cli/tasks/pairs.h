// `tritonsmith tasks pairs`: Triton solutions of PyTorch modules by Inductor, judged.
#pragma once

#include "cli/call/command.h"

namespace tritonsmith::cli {

void add_pairs_command(CLI::App& tasks, Run& run);

}  // namespace tritonsmith::cli
