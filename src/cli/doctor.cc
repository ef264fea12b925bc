// `tritonsmith doctor`: what works on this machine. Prints one line a fact; the exit code is 0 when
// judging can work.
#include <fmt/format.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

#include "base/file.h"
#include "cli/commands.h"

namespace tritonsmith::cli {
namespace {

namespace fs = std::filesystem;

enum class Standing { fine, lacking, broken };

void print_fact(Standing standing, const std::string& name, const std::string& fact) {
  const char* mark = standing == Standing::fine      ? "ok"
                     : standing == Standing::lacking ? "--"
                                                     : "!!";
  fmt::print("{}  {:<10} {}\n", mark, name, fact);
}

// The program's standard output, or nothing when it fails.
std::string output_of(const std::string& command) {
  std::string output;
  FILE* pipe = ::popen((command + " 2>/dev/null").c_str(), "r");
  if (pipe == nullptr) return output;
  std::array<char, 4096> buffer{};
  for (std::size_t got = 0; (got = std::fread(buffer.data(), 1, buffer.size(), pipe)) > 0;)
    output.append(buffer.data(), got);
  if (::pclose(pipe) != 0) return {};
  while (!output.empty() && output.back() == '\n') output.pop_back();
  return output;
}

std::string python() {
  const char* set = std::getenv("TRITONSMITH_PYTHON");
  return set != nullptr ? set : TRITONSMITH_PYTHON;
}

void print_machine() {
  utsname system{};
  ::uname(&system);
  std::ifstream meminfo("/proc/meminfo");
  double available_kib = 0;
  for (std::string line; std::getline(meminfo, line);)
    if (std::sscanf(line.c_str(), "MemAvailable: %lf", &available_kib) == 1) break;
  print_fact(
      Standing::fine, "machine",
      fmt::format("{} {}, {} cores, {:.1f} GiB of memory free", system.sysname, system.release,
                  std::thread::hardware_concurrency(), available_kib / (1 << 20)));
}

bool print_python() {
  const std::string versions =
      output_of("'" + python() +
                "' -c 'import importlib.metadata as m, sys; print(sys.version.split()[0] + "
                "\", torch \" + m.version(\"torch\") + \", triton \" + m.version(\"triton\"))'");
  if (versions.empty()) {
    print_fact(Standing::broken, "python",
               fmt::format("{} has no torch and triton: run tools/setup, or set TRITONSMITH_PYTHON",
                           python()));
    return false;
  }
  print_fact(Standing::fine, "python", fmt::format("{} ({})", versions, python()));
  return true;
}

void print_gpu() {
  const std::string gpus = output_of(
      "nvidia-smi --query-gpu=name,memory.total,memory.free,driver_version --format=csv,noheader");
  if (gpus.empty())
    print_fact(Standing::lacking, "gpu", "none: kernels are evaluated on the CPU, without timings");
  else
    print_fact(Standing::fine, "gpu", gpus);
}

void print_disk() {
  std::error_code code;
  const fs::space_info space = fs::space(fs::temp_directory_path(), code);
  const double gib = static_cast<double>(space.available) / (1 << 30);
  print_fact(gib > 1.0 ? Standing::fine : Standing::broken, "disk",
             fmt::format("{:.1f} GiB free in {}", gib, fs::temp_directory_path().string()));
}

int doctor() {
  print_machine();
  const bool python_serves = print_python();
  print_gpu();
  print_disk();
  return python_serves ? 0 : 1;
}

}  // namespace

void add_doctor_command(CLI::App& app, Run& run) {
  CLI::App* command = app.add_subcommand("doctor", "Say what works on this machine");
  command->callback([&run] { run = doctor; });
}

}  // namespace tritonsmith::cli
