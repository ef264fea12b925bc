// options.json: the options that decide an evaluation's records. A directory is gone on with under
// the same options only.
#pragma once

#include <filesystem>

#include "base/json.h"

namespace tritonsmith::eval {

// Writes `options`, an object, into the directory. If an earlier call wrote them, this compares
// instead, and fails with a line that names the option that differs.
Status keep_options(const std::filesystem::path& directory, const Json& options);

}  // namespace tritonsmith::eval
