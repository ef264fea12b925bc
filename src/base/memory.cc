#include "base/memory.h"

#include <algorithm>
#include <charconv>

#include "base/file.h"

namespace tritonsmith {
namespace {

// Returns the first number of the text, or -1 if the text does not begin with one.
std::int64_t number_in(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
  std::int64_t number = -1;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

}  // namespace

std::int64_t memory_available_in(std::string_view meminfo) {
  constexpr std::string_view name = "MemAvailable:";
  const std::size_t at = meminfo.find(name);
  if (at == std::string_view::npos) return 0;
  return std::max<std::int64_t>(0, number_in(meminfo.substr(at + name.size()))) * 1024;
}

std::int64_t memory_left_of(std::string_view limit, std::string_view current, std::int64_t most) {
  const std::int64_t allowed = number_in(limit), used = number_in(current);
  if (allowed < 0 || used < 0) return most;
  return std::clamp<std::int64_t>(allowed - used, 0, most);
}

// A container sees its own control group as the root.
std::int64_t available_memory_bytes() {
  const auto meminfo = read_file("/proc/meminfo");
  const std::int64_t machine = meminfo ? memory_available_in(*meminfo) : 0;
  const auto limit = read_file("/sys/fs/cgroup/memory.max");
  const auto current = read_file("/sys/fs/cgroup/memory.current");
  return limit && current ? memory_left_of(*limit, *current, machine) : machine;
}

}  // namespace tritonsmith
