#include "cli/judges.h"

#include "base/file.h"
#include "gym/schedule/local_judge.h"
#include "inspect/inspect.h"

namespace tritonsmith::cli {

Result<std::unique_ptr<gym::Judge>> open_judge(const std::filesystem::path& directory) {
  gym::LocalJudgeConfig config;
  if (!directory.empty()) {
    TRY(make_directories(directory));
    config.directory = directory;
  }
  TRY_ASSIGN(auto judge, gym::LocalJudge::start(config, inspect::inspect_kernel));
  return std::unique_ptr<gym::Judge>(std::move(judge));
}

}  // namespace tritonsmith::cli
