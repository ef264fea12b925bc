// `tritonsmith doctor`: prints what works on this machine and how to mend what does not, one line
// for each fact. It measures the rates of each GPU for later verdicts. The exit code is 0 if judging
// works, and 3 otherwise.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

#include "base/file.h"
#include "base/lease.h"
#include "cli/call/command.h"
#include "cli/call/fact.h"
#include "cli/call/help.h"
#include "cli/call/output.h"
#include "cli/call/output_of.h"
#include "gym/cuda/driver.h"
#include "gym/cuda/lease_path.h"
#include "gym/judge/ceilings_file.h"
#include "gym/sandbox/guest_files.h"
#include "gym/timing/ceilings.h"

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

// Measures a GPU while no other program holds its lease, and keeps the result for later verdicts.
Result<Ceilings> measure(const gym::cuda::GpuFacts& gpu, int ordinal) {
  constexpr std::chrono::seconds patience{30};
  const fs::path folder = gym::judge::ceilings_folder();
  if (folder.empty()) return fail("there is no folder for the result; set HOME");
  TRY_ASSIGN(const auto meter, gym::timing::meter_of_gpu(ordinal));
  TRY_ASSIGN(Lease lease, Lease::open(gym::cuda::lease_path(gpu)));
  if (!lease.take(Lease::Hold::alone, Deadline::after(patience)))
    return fail("other programs use it; call doctor again later");
  TRY_ASSIGN(auto ceilings, gym::timing::measure_ceilings(*meter, gpu.name));
  TRY(gym::judge::keep_ceilings(folder, ceilings));
  return ceilings;
}

std::string words_for(const Ceilings& ceilings) {
  std::vector<std::string> products;
  for (const auto& [type, rate] : ceilings.flops_per_second)
    products.push_back(fmt::format("{} {:.0f}", type, rate / 1e12));
  return fmt::format("{}: copies {:.2f} TB/s; products {} TFLOP/s; {:.1f} us a launch",
                     ceilings.gpu, ceilings.bytes_per_second / 1e12, fmt::join(products, ", "),
                     ceilings.launch_us);
}

// GPUs of one name share their rates, so the first of each name is measured.
std::vector<Fact> speed_facts() {
  std::vector<Fact> facts;
  std::vector<std::string> seen;
  const auto gpus = gym::cuda::list_gpus();
  for (std::size_t i = 0; i < gpus.size(); ++i) {
    if (std::ranges::find(seen, gpus[i].name) != seen.end()) continue;
    seen.push_back(gpus[i].name);
    const auto ceilings = measure(gpus[i], static_cast<int>(i));
    facts.push_back(ceilings ? Fact{FactStatus::fine, "speed", words_for(*ceilings), ""}
                             : Fact{FactStatus::lacking, "speed",
                                    fmt::format("{} was not measured: {}", gpus[i].name,
                                                ceilings.error().message),
                                    "verdicts have no speed of light without it"});
  }
  return facts;
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
  for (const Fact& fact : speed_facts()) print(fact);
  return judging.status == FactStatus::broken ? ExitCode::fault : ExitCode::done;
}

void add_doctor_command(CLI::App& app, Run& run) {
  CLI::App* command =
      app.add_subcommand("doctor", "Say what works on this machine, and measure its GPU");
  add_example(*command, "doctor");
  command->callback([&run] { run = doctor; });
}

const Command doctor_command(CommandGroup::start, "doctor", add_doctor_command);

}  // namespace
}  // namespace tritonsmith::cli
