#include "data/timed_devices.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

namespace tritonsmith {

void TimedDevices::add(const Verdict& verdict) {
  if (is_timed(verdict)) add(verdict.environment.gpu);
}

std::string TimedDevices::most() const {
  const auto at =
      std::ranges::max_element(counts_, {}, [](const auto& device) { return device.second; });
  return at == counts_.end() ? "" : at->first;
}

std::string TimedDevices::others_than(const std::string& device) const {
  std::vector<std::string> others;
  for (const auto& [name, count] : counts_)
    if (name != device)
      others.push_back(fmt::format("{} on {}", count, name.empty() ? "an unknown device" : name));
  return fmt::format("{}", fmt::join(others, ", "));
}

bool is_timed(const Verdict& verdict) { return verdict.time_ms || verdict.speedup; }

void forget_times(Verdict& verdict) {
  verdict.time_ms.reset();
  verdict.reference_ms.reset();
  verdict.speedup.reset();
  verdict.baselines.clear();
  verdict.coverage.reset();
  verdict.speed_of_light.reset();
}

}  // namespace tritonsmith
