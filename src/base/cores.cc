#include "base/cores.h"

#include <sched.h>

#include <algorithm>
#include <sstream>
#include <string>

#include "base/file.h"

namespace tritonsmith {
namespace {

// Reads the quota of the container's control group, which a container sees as the root. It reads
// the file of cgroup version 2, or else of version 1.
int cores_of_group() {
  if (const auto text = read_file("/sys/fs/cgroup/cpu.max")) return cores_of_quota(*text);
  const auto quota = read_file("/sys/fs/cgroup/cpu/cpu.cfs_quota_us");
  const auto period = read_file("/sys/fs/cgroup/cpu/cpu.cfs_period_us");
  return quota && period ? cores_of_quota(*quota + " " + *period) : 0;
}

int cores_to_run_on() {
  cpu_set_t set;
  CPU_ZERO(&set);
  return ::sched_getaffinity(0, sizeof set, &set) == 0 ? std::max(1, CPU_COUNT(&set)) : 1;
}

}  // namespace

int cores_of_quota(std::string_view text) {
  std::istringstream stream{std::string(text)};
  long quota = 0, period = 0;
  if (!(stream >> quota >> period) || quota <= 0 || period <= 0) return 0;
  return static_cast<int>((quota + period - 1) / period);
}

int usable_cores() {
  static const int cores = [] {
    const int quota = cores_of_group();
    return quota > 0 ? std::min(quota, cores_to_run_on()) : cores_to_run_on();
  }();
  return cores;
}

}  // namespace tritonsmith
