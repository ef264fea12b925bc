// Writes the folder of Python files that read the user's code (module_task.h) and that record a
// running script (capture.h).
#pragma once

#include "base/temp_dir.h"

namespace tritonsmith::modules {

// Writes the files. The folder is one for Python's path.
Result<TempDir> write_helper();

}  // namespace tritonsmith::modules
