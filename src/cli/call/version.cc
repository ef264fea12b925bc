#include "cli/call/version.h"

#include <fmt/format.h>

#include "cli/call/output_of.h"
#include "cli/commit.h"
#include "gym/judge/verdict_store.h"
#include "gym/sandbox/guest_files.h"

namespace tritonsmith::cli {

std::string program_version() { return TRITONSMITH_VERSION; }

std::string program_commit() { return kCommit; }

std::string program_name() {
  return fmt::format("tritonsmith {}, commit {}", program_version(), program_commit());
}

std::string version_text() {
  const std::string python = gym::sandbox::guest_python({});
  const std::string versions = versions_of_python(python);
  return fmt::format(
      "{}\njudging version {}\n{}", program_name(), gym::judge::kJudgingVersion,
      versions.empty()
          ? fmt::format("{} has no torch and triton; `tritonsmith doctor` says more", python)
          : "python " + versions);
}

}  // namespace tritonsmith::cli
