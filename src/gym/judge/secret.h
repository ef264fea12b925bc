// The run's secret, from which all draws of its judging follow: 32 random bytes in a file that only
// its owner reads, made on first use and kept, so that a resumed run judges as it did before. No
// guest ever sees it.
#pragma once

#include <filesystem>
#include <string>

#include "base/error.h"

namespace tritonsmith::gym::judge {

Result<std::string> fresh_secret();
Result<std::string> load_or_make_secret(const std::filesystem::path& file);

}  // namespace tritonsmith::gym::judge
