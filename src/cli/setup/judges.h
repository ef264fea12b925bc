// The gym of the commands: in this program, or a remote service.
#pragma once

#include <filesystem>
#include <memory>

#include "cli/call/command.h"
#include "gym/api/judge.h"
#include "gym/judge/local_judge.h"

namespace tritonsmith::cli {

// This program itself, as `gym-referee`.
gym::judge::RefereeProgram own_referee();

// Judges in this program; for who has it pass the self-test himself. `pool` captures and compiles;
// without one this machine does.
Result<std::unique_ptr<gym::judge::LocalJudge>> start_untested_judge(
    const gym::judge::LocalJudgeConfig& config,
    std::unique_ptr<gym::capture::CapturePool> pool = nullptr);

// The same, tested. The first time that this program, with this Python, judges on these GPUs
// it shows that it judges (gym/judge/start_check.h), some seconds; the user's cache remembers
// that it did. Fails where a kernel was misjudged.
Result<std::unique_ptr<gym::judge::LocalJudge>> start_judge(
    const gym::judge::LocalJudgeConfig& config);

struct GymChoice {
  std::string url;                // URL of a `gym serve`; empty: this program judges
  std::string token_file;         // empty: the token is $TRITONSMITH_GYM_TOKEN
  std::vector<std::string> data;  // if this program judges: folders that tasks may read
  // If this program judges: the numbers of the GPUs that run kernels (empty: all), and whether
  // kernels are timed alone.
  std::vector<std::int64_t> gpus;
  bool lease = true;
  int processes = 1;  // processes that judge at the same time and share the cores
};

// Here, its store and its secret live in `directory`, so that a resumed run finds its verdicts;
// with an empty one nothing is kept. A service has its own.
Result<std::unique_ptr<gym::api::Judge>> open_judge(const std::filesystem::path& directory,
                                                    const GymChoice& gym = {});

// Adds --gym URL, --token-file FILE and --data DIR.
void add_gym_options(CLI::App& command, GymChoice& gym);

// Adds --data DIR: a folder that tasks may read.
void add_data_option(CLI::App& command, std::vector<std::string>& data);
// Returns the folders as absolute paths. Fails if one is no folder.
Result<std::vector<std::string>> data_folders(const std::vector<std::string>& data);

}  // namespace tritonsmith::cli
