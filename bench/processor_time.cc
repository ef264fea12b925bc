#include "processor_time.h"

#include <dirent.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <sstream>
#include <vector>

namespace tritonsmith {
namespace {

struct Usage {
  int pid = 0, parent = 0;
  double own = 0, reaped = 0;  // seconds; reaped: of children that it waited for
};

std::string file_text(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

// Fields of proc(5)'s stat behind the name in parentheses: state, parent, ... (14 to 17: times).
Usage usage_of(int pid) {
  const std::string text = file_text("/proc/" + std::to_string(pid) + "/stat");
  std::istringstream rest(text.substr(std::min(text.size(), text.rfind(')') + 2)));
  const std::vector<std::string> fields{std::istream_iterator<std::string>(rest), {}};
  constexpr std::size_t parent = 1, user = 11, last = 14;
  if (fields.size() <= last) return {};
  const auto seconds = [&](std::size_t at) {
    return (std::atof(fields[at].c_str()) + std::atof(fields[at + 1].c_str())) /
           static_cast<double>(::sysconf(_SC_CLK_TCK));
  };
  return {.pid = pid,
          .parent = std::atoi(fields[parent].c_str()),
          .own = seconds(user),
          .reaped = seconds(user + 2)};
}

std::vector<Usage> all_processes() {
  std::vector<Usage> found;
  DIR* folder = ::opendir("/proc");
  while (const dirent* entry = ::readdir(folder))
    if (const int pid = std::atoi(entry->d_name); pid > 0)
      if (const Usage usage = usage_of(pid); usage.pid != 0) found.push_back(usage);
  ::closedir(folder);
  return found;
}

}  // namespace

std::map<std::string, double> processor_seconds() {
  std::map<std::string, double> seconds;
  const std::vector<Usage> processes = all_processes();
  for (const Usage& process : processes) {
    if (process.pid == ::getpid()) seconds["judge"] += process.own;
    if (process.parent != ::getpid()) continue;
    const std::string command = file_text("/proc/" + std::to_string(process.pid) + "/cmdline");
    if (command.find("referee") != std::string::npos) {
      seconds["referees"] += process.own;
      continue;
    }
    seconds["zygote"] += process.own;
    seconds["guests"] += process.reaped;
    for (const Usage& worker : processes) {
      if (worker.parent != process.pid) continue;
      seconds["compilers"] += worker.own;
      seconds["ptxas"] += worker.reaped;
    }
  }
  return seconds;
}

}  // namespace tritonsmith
