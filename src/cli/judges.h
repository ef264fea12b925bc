// The gym of the commands: in this program, or a remote service.
#pragma once

#include <filesystem>
#include <memory>

#include "cli/command.h"
#include "gym/client/judge.h"
#include "gym/schedule/local_judge.h"

namespace tritonsmith::cli {

// The program itself, run as `gym-referee`.
gym::RefereeProgram own_referee();

// Starts a judge in this program without the self-test, for callers that run it themselves.
Result<std::unique_ptr<gym::LocalJudge>> start_untested_judge(const gym::LocalJudgeConfig& config);

// Starts a judge with the self-test. The first time that this program with this Python judges on
// these GPUs, it proves that it judges correctly (gym/schedule/start_check.h). The test takes some
// seconds, and the user's cache remembers its success. Fails if a test kernel is misjudged.
Result<std::unique_ptr<gym::LocalJudge>> start_judge(const gym::LocalJudgeConfig& config);

struct GymChoice {
  std::string url;         // URL of a `gym serve`; empty: this program judges
  std::string token_file;  // empty: the token is $TRITONSMITH_GYM_TOKEN
  // If this program judges: the numbers of the GPUs that run kernels (empty: all), and whether
  // kernels are timed alone.
  std::vector<std::int64_t> gpus;
  bool lease = true;
  int processes = 1;  // processes that judge at the same time and share the cores
};

// If this program judges, its store and its secret live in `directory`, so that a resumed run finds
// its verdicts. With an empty directory nothing is stored. A service has its own store.
Result<std::unique_ptr<gym::Judge>> open_judge(const std::filesystem::path& directory,
                                               const GymChoice& gym = {});

// Adds --gym URL and --token-file FILE.
void add_gym_options(CLI::App& command, GymChoice& gym);

}  // namespace tritonsmith::cli
