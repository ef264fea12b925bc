// Adds `tritonsmith tasks import` and `tasks export`, which read and write folders of files and the
// data sets of others.
#pragma once

#include "cli/call/command.h"

namespace tritonsmith::cli {

void add_import_command(CLI::App& tasks, Run& run);
void add_export_command(CLI::App& tasks, Run& run);

}  // namespace tritonsmith::cli
