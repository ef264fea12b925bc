// Starts the judge of a command: in this program, or as the client of a `gym serve`.
#pragma once

#include <filesystem>
#include <memory>

#include "cli/call/command.h"
#include "gym/api/judge.h"
#include "gym/judge/local_judge.h"

namespace tritonsmith::cli {

// Returns the program that referees run: this program itself, as `gym-referee`.
gym::judge::RefereeProgram own_referee();

// Starts a judge in this program without its self-test, which the caller then has to run. `pool`
// captures and compiles candidates. If it is null, a pool of this machine does.
Result<std::unique_ptr<gym::judge::LocalJudge>> start_untested_judge(
    const gym::judge::LocalJudgeConfig& config,
    std::unique_ptr<gym::capture::CapturePool> pool = nullptr);

// Starts a judge in this program with its self-test (gym/judge/start_check.h). The self-test takes
// some seconds. It runs only the first time that this program judges with this Python on these
// GPUs, because the user's cache remembers it. Fails if the judge misjudged one of the test's
// kernels.
Result<std::unique_ptr<gym::judge::LocalJudge>> start_judge(
    const gym::judge::LocalJudgeConfig& config);

struct GymChoice {
  std::string url;         // URL of a `gym serve`; empty: this program judges
  std::string token_file;  // empty: the token is $TRITONSMITH_GYM_TOKEN
  std::string device;      // with `url`: the class of devices that judge; see RemoteJudgeConfig
  std::vector<std::string> data;  // if this program judges: folders that tasks may read
  // If this program judges: the numbers of the GPUs that run kernels (empty: all), and whether
  // kernels are timed alone.
  std::vector<std::int64_t> gpus;
  bool lease = true;
  int processes = 1;  // processes that judge at the same time and share the cores
  // If this program judges: the time for all trials of one kernel.
  double referee_seconds = gym::judge::LocalJudgeConfig().referee_seconds;
};

// Fails if `gym` names a class of devices but no service.
Status check_device_choice(const GymChoice& gym);

// Opens the judge that `gym` names. A judge in this program keeps its verdict store and its secret
// in `directory`, so that a resumed run finds its verdicts. If `directory` is empty, it keeps
// nothing.
Result<std::unique_ptr<gym::api::Judge>> open_judge(const std::filesystem::path& directory,
                                                    const GymChoice& gym = {});

// Adds --gym URL, --token-file FILE, --gym-device CLASS and --data DIR.
void add_gym_options(CLI::App& command, GymChoice& gym);

// Adds --data DIR: a folder that tasks may read.
void add_data_option(CLI::App& command, std::vector<std::string>& data);
// Returns the folders as absolute paths. Fails if one is no folder.
Result<std::vector<std::string>> data_folders(const std::vector<std::string>& data);

}  // namespace tritonsmith::cli
