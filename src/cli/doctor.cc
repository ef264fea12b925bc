// `tritonsmith doctor`: prints what works on this machine and how to mend what does not, one line
// for each fact. The exit code is 0 if judging works, and 3 otherwise.
#include <fmt/format.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

#include "base/file.h"
#include "cli/call/command.h"
#include "cli/call/fact.h"
#include "cli/call/help.h"
#include "cli/call/output.h"
#include "cli/call/output_of.h"
#include "gym/sandbox/guest_files.h"

namespace tritonsmith::cli {
namespace {

namespace fs = std::filesystem;

constexpr double kGib = 1 << 30;

void print(const Fact& fact) {
  const char* mark = fact.status == FactStatus::fine      ? "ok"
                     : fact.status == FactStatus::lacking ? "--"
                                                          : "!!";
  show("{}  {:<8} {}\n", mark, fact.name, fact.found);
  if (!fact.advice.empty()) show("{:13}-> {}\n", "", fact.advice);
}

Fact machine_fact() {
  utsname system{};
  ::uname(&system);
  return {FactStatus::fine, "machine",
          fmt::format("{} {}, {} cores, {}", system.sysname, system.release,
                      std::thread::hardware_concurrency(),
                      ::geteuid() == 0 ? "root" : "an ordinary user"),
          ""};
}

Fact memory_fact() {
  std::ifstream meminfo("/proc/meminfo");
  double available_kib = 0, total_kib = 0;
  for (std::string line; std::getline(meminfo, line);) {
    std::sscanf(line.c_str(), "MemTotal: %lf", &total_kib);
    std::sscanf(line.c_str(), "MemAvailable: %lf", &available_kib);
  }
  const double free = available_kib * 1024 / kGib;
  constexpr double kWanted =
      4;  // GiB: a compilation with torch's headers takes 1, the quickstart 3
  return {free >= kWanted ? FactStatus::fine : FactStatus::lacking, "memory",
          fmt::format("{:.1f} of {:.1f} GiB free", free, total_kib * 1024 / kGib),
          free >= kWanted ? "" : "end other programs: the quickstart and the build want 4 GiB"};
}

Fact disk_fact(const fs::path& folder, double wanted_gib) {
  std::error_code code;
  const fs::space_info space = fs::space(folder, code);
  if (code)
    return {FactStatus::broken, "disk", fmt::format("{}: {}", folder.string(), code.message()),
            "make this folder, or set TMPDIR to another"};
  const double free = static_cast<double>(space.available) / kGib;
  return {free >= wanted_gib ? FactStatus::fine : FactStatus::broken, "disk",
          fmt::format("{:.1f} GiB free in {}", free, folder.string()),
          free >= wanted_gib ? "" : fmt::format("free {:.0f} GiB there", wanted_gib)};
}

Fact python_fact() {
  const std::string python = gym::sandbox::guest_python({});
  const std::string versions = versions_of_python(python);
  if (versions.empty())
    return {FactStatus::broken, "python", fmt::format("{} has no torch and triton", python),
            "run `make build`, or set TRITONSMITH_PYTHON to an interpreter that has them"};
  return {FactStatus::fine, "python", fmt::format("{} ({})", versions, python), ""};
}

Fact gpu_fact() {
  const std::string gpus = output_of(
      "nvidia-smi --query-gpu=name,memory.total,memory.free,driver_version --format=csv,noheader");
  if (gpus.empty())
    return {FactStatus::lacking, "gpu", "none: kernels are evaluated on the CPU, without timings",
            ""};
  return {FactStatus::fine, "gpu", gpus, ""};
}

ExitCode doctor() {
  // This must come first, because it forks and needs a process with one thread.
  const std::vector<Fact> jail = jail_facts();
  std::vector<Fact> facts = {machine_fact(),
                             memory_fact(),
                             disk_fact(fs::temp_directory_path(), 1),
                             disk_fact(fs::current_path(), 0.5),
                             python_fact(),
                             gpu_fact()};
  facts.insert(facts.end(), jail.begin(), jail.end());
  for (const Fact& fact : facts) print(fact);
  const Fact judging = judging_fact();
  print(judging);
  return judging.status == FactStatus::broken ? ExitCode::fault : ExitCode::done;
}

void add_doctor_command(CLI::App& app, Run& run) {
  CLI::App* command = app.add_subcommand("doctor", "Say what works on this machine");
  add_example(*command, "doctor");
  command->callback([&run] { run = doctor; });
}

const Command doctor_command(CommandGroup::start, "doctor", add_doctor_command);

}  // namespace
}  // namespace tritonsmith::cli
