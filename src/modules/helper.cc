#include "modules/helper.h"

#include "base/file.h"
#include "modules/module_task.h"

namespace tritonsmith::modules {

Result<TempDir> write_helper() {
  TRY_ASSIGN(TempDir root, TempDir::make("tritonsmith-modules"));
  const std::filesystem::path package = root.path() / "tritonsmith_modules";
  TRY(make_directories(package));
  for (const gym::sandbox::EmbeddedFile& file : embedded_module_files()) {
    // Python looks for this one at the top.
    const auto& folder = file.name == "sitecustomize.py" ? root.path() : package;
    TRY(write_file_atomic(folder / file.name, file.bytes));
  }
  return root;
}

}  // namespace tritonsmith::modules
