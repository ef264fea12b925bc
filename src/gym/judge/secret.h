// Keeps the run's secret, from which all draws of its trials follow. It is 32 random bytes in a
// file that only its owner reads. The first use makes it, and it is kept, so that a resumed run
// judges as before. No guest ever sees it.
#pragma once

#include <filesystem>
#include <string>

#include "base/error.h"

namespace tritonsmith::gym::judge {

Result<std::string> fresh_secret();
Result<std::string> load_or_make_secret(const std::filesystem::path& file);

}  // namespace tritonsmith::gym::judge
