// The gym that commands use when they judge in this program.
#pragma once

#include <filesystem>
#include <memory>

#include "gym/client/judge.h"

namespace tritonsmith::cli {

// Its store and its secret live in `directory`, so that a resumed run finds its verdicts; with an
// empty one nothing is kept.
Result<std::unique_ptr<gym::Judge>> open_judge(const std::filesystem::path& directory);

}  // namespace tritonsmith::cli
