#include "cli/setup/judges.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/stat.h>
#include <sys/utsname.h>

#include "base/cache_directory.h"
#include "base/file.h"
#include "cli/call/output_of.h"
#include "gym/capture/capture_pool.h"
#include "gym/cuda/driver.h"
#include "gym/judge/start_check.h"
#include "gym/remote/remote_judge.h"
#include "gym/sandbox/guest_files.h"
#include "inspect/inspect.h"

namespace tritonsmith::cli {
namespace {

// Identifies the running program's file, even if another file has taken its name since. Returns an
// empty string if that is impossible.
std::string mark_of_program() {
  struct stat facts {};
  if (::stat("/proc/self/exe", &facts) != 0) return {};
  return fmt::format("file {} of device {}, {} bytes of {}.{:09}", facts.st_ino, facts.st_dev,
                     facts.st_size, facts.st_mtim.tv_sec, facts.st_mtim.tv_nsec);
}

std::string name_of_machine() {
  if (const auto id = read_file("/etc/machine-id"); id && !id->empty()) return *id;
  utsname system{};
  return ::uname(&system) == 0 ? system.nodename : "";
}

// Identifies judges that decide alike, by machine, program, Python with torch and triton, all GPUs,
// the chosen GPUs and the target. Returns an empty string if that is impossible.
std::string mark_of_judge(const gym::judge::LocalJudgeConfig& config) {
  const std::string program = mark_of_program();
  const std::string python = gym::sandbox::guest_python(config.capture.python);
  const std::string versions = versions_of_python(python);
  if (program.empty() || versions.empty()) return {};
  std::string mark = fmt::format(
      "machine {}\nprogram {}\npython {}: {}\n{} of the GPUs {}, for {}\n", name_of_machine(),
      program, python, versions, config.gpus, fmt::join(config.only_gpus, ", "), config.target);
  for (const gym::cuda::GpuFacts& gpu : gym::cuda::list_gpus())
    mark += fmt::format("{} at {}, driver {}\n", gpu.name, gpu.bus_id, gpu.driver);
  return mark;
}

}  // namespace

gym::judge::RefereeProgram own_referee() { return {.argv = {"/proc/self/exe", "gym-referee"}}; }

Result<std::unique_ptr<gym::judge::LocalJudge>> start_untested_judge(
    const gym::judge::LocalJudgeConfig& config, std::unique_ptr<gym::capture::CapturePool> pool) {
  return gym::judge::LocalJudge::start(config, inspect::inspect_kernel, own_referee(),
                                       std::move(pool));
}

Result<std::unique_ptr<gym::judge::LocalJudge>> start_judge(
    const gym::judge::LocalJudgeConfig& config) {
  auto judge = start_untested_judge(config);
  if (!judge) return tl::unexpected(judge.error().as_fault());
  const std::string mark = mark_of_judge(config);
  const Status tested = gym::judge::self_test_once(
      **judge, (*judge)->referees(), mark.empty() ? "" : cache_directory("self-test"), mark);
  if (!tested) return tl::unexpected(tested.error().as_fault());
  return judge;
}

Status check_device_choice(const GymChoice& gym) {
  if (gym.device.empty() || !gym.url.empty()) return ok();
  return fail(
      "a class of devices ({}) is chosen among the devices of a service: name the service by --gym "
      "or judge.url. On this machine CUDA_VISIBLE_DEVICES chooses",
      gym.device);
}

Result<std::unique_ptr<gym::api::Judge>> open_judge(const std::filesystem::path& directory,
                                                    const GymChoice& gym) {
  if (!gym.url.empty() && !gym.data.empty())
    return fail(
        "--data shows folders of this machine: give the service its own, by "
        "--set 'judge.capture.data=[\"DIR\"]'");
  if (!gym.url.empty())
    return gym::remote::RemoteJudge::open(
        {.url = gym.url, .token_file = gym.token_file, .device = gym.device});
  TRY(check_device_choice(gym));
  gym::judge::LocalJudgeConfig config{
      .only_gpus = gym.gpus, .lease = gym.lease, .referee_seconds = gym.referee_seconds};
  config.capture.slots = std::max(1, config.capture.slots / gym.processes);
  config.capture.compilers = std::max(1, config.capture.compilers / gym.processes);
  config.referees = std::max(1, config.referees / gym.processes);
  TRY_ASSIGN(config.capture.data, data_folders(gym.data));
  if (!directory.empty()) {
    TRY(make_directories(directory));  // fails as the caller's error; later failures are faults
    config.directory = directory;
  }
  TRY_ASSIGN(auto judge, start_judge(config));
  return std::unique_ptr<gym::api::Judge>(std::move(judge));
}

void add_gym_options(CLI::App& command, GymChoice& gym) {
  command.add_option("--gym", gym.url,
                     "Judge with the `gym serve` at this URL instead of on this machine");
  command.add_option("--token-file", gym.token_file,
                     "The file of its token (default: $TRITONSMITH_GYM_TOKEN)");
  command.add_option(
      "--gym-device", gym.device,
      "The class of that service's devices that judge: NVIDIA H200, sm_90, gpu or "
      "cpu (default: any device, but of several kinds of GPUs only the most common one)");
  add_data_option(command, gym.data);
}

void add_data_option(CLI::App& command, std::vector<std::string>& data) {
  command.add_option("--data", data,
                     "A folder that tasks may read, by its absolute path (repeatable); the sandbox "
                     "hides all others. Every user must be able to read its files");
}

Result<std::vector<std::string>> data_folders(const std::vector<std::string>& data) {
  std::vector<std::string> folders;
  for (const std::string& each : data) {
    std::error_code code;
    const auto folder = std::filesystem::canonical(each, code);
    if (code || !std::filesystem::is_directory(folder, code))
      return fail("--data {}: there is no such folder", each);
    folders.push_back(folder.string());
  }
  if (const Status shown = gym::capture::check_data_folders(folders); !shown)
    return fail("--data {}", shown.error().message);
  return folders;
}

}  // namespace tritonsmith::cli
