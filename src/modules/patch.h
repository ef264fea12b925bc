// Writes the files that put a verified kernel into the user's own code. The module holds the
// kernel, and a function that makes a replacement of an existing module or stands for the function.
// The test compares it with the original on the user's machine. Both are text; nothing here runs.
#pragma once

#include <string>
#include <string_view>

#include "modules/module_task.h"

namespace tritonsmith::modules {

struct Patch {
  std::string module, test;
};

// `module_name` is the name under which the test imports the module: that of its file.
Patch patch_of(const ModuleTasks& made, std::string_view kernel, std::string_view module_name);

}  // namespace tritonsmith::modules
