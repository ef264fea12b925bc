#include "cli/judges.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/stat.h>

#include "base/file.h"
#include "cli/cache_directory.h"
#include "gym/capture/guest_files.h"
#include "gym/client/remote_judge.h"
#include "gym/gpu/driver.h"
#include "gym/schedule/start_check.h"
#include "inspect/inspect.h"

namespace tritonsmith::cli {
namespace {

// This program's file, as no other build of it has it; empty where it cannot be told.
std::string mark_of_program() {
  std::error_code missing;
  const std::filesystem::path file = std::filesystem::read_symlink("/proc/self/exe", missing);
  struct stat facts {};
  if (missing || ::stat(file.c_str(), &facts) != 0) return {};
  return fmt::format("{}, {} bytes of {}.{:09}", file.string(), facts.st_size, facts.st_mtim.tv_sec,
                     facts.st_mtim.tv_nsec);
}

// All that judges alike: program, Python, the GPUs that there are and which of them it takes.
std::string mark_of_judge(const gym::LocalJudgeConfig& config) {
  std::string mark = fmt::format("{}\npython {}\n{} of the GPUs {}\n", mark_of_program(),
                                 gym::guest_python(config.capture.python), config.gpus,
                                 fmt::join(config.only_gpus, ", "));
  for (const gym::gpu::GpuFacts& gpu : gym::gpu::list_gpus())
    mark += fmt::format("{} at {}, driver {}\n", gpu.name, gpu.bus_id, gpu.driver);
  return mark;
}

}  // namespace

gym::RefereeProgram own_referee() { return {.argv = {"/proc/self/exe", "gym-referee"}}; }

Result<std::unique_ptr<gym::LocalJudge>> start_judge(const gym::LocalJudgeConfig& config) {
  TRY_ASSIGN(auto judge, gym::LocalJudge::start(config, inspect::inspect_kernel, own_referee()));
  TRY(gym::self_test_once(*judge, cache_directory("self-test"), mark_of_judge(config)));
  return judge;
}

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
  TRY_ASSIGN(auto judge, start_judge(config));
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
