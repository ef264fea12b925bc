#include "cli/judges.h"

#include "base/file.h"
#include "gym/client/remote_judge.h"
#include "gym/schedule/local_judge.h"
#include "inspect/inspect.h"

namespace tritonsmith::cli {

gym::RefereeProgram own_referee() { return {.argv = {"/proc/self/exe", "gym-referee"}}; }

Result<std::unique_ptr<gym::Judge>> open_judge(const std::filesystem::path& directory,
                                               const GymChoice& gym) {
  if (!gym.url.empty() && !gym.baselines.empty())
    return fail(
        "--baselines goes with this machine's judge: the service at {} times its own "
        "(`gym serve --set judge.baselines=...`)",
        gym.url);
  if (!gym.url.empty())
    return gym::RemoteJudge::open({.url = gym.url, .token_file = gym.token_file});
  gym::LocalJudgeConfig config{
      .only_gpus = gym.gpus, .lease = gym.lease, .baselines = gym.baselines};
  config.capture.slots = std::max(1, config.capture.slots / gym.processes);
  config.capture.compilers = std::max(1, config.capture.compilers / gym.processes);
  config.referees = std::max(1, config.referees / gym.processes);
  if (!directory.empty()) {
    TRY(make_directories(directory));
    config.directory = directory;
  }
  TRY_ASSIGN(auto judge, gym::LocalJudge::start(config, inspect::inspect_kernel, own_referee()));
  return std::unique_ptr<gym::Judge>(std::move(judge));
}

void add_gym_options(CLI::App& command, GymChoice& gym) {
  command.add_option("--gym", gym.url,
                     "Judge with the `gym serve` at this URL instead of on this machine");
  command.add_option("--token-file", gym.token_file,
                     "Holds its token (default: $TRITONSMITH_GYM_TOKEN)");
}

void add_baselines_option(CLI::App& command, GymChoice& gym) {
  command
      .add_option("--baselines", gym.baselines,
                  "Also time the task run otherwise, on a GPU: eager, torch_compile")
      ->check(CLI::IsMember({"eager", "torch_compile"}));
}

}  // namespace tritonsmith::cli
