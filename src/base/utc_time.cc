#include "base/utc_time.h"

#include <fmt/chrono.h>

#include <chrono>

namespace tritonsmith {

std::string utc_time() {
  const auto now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
  return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(now));
}

}  // namespace tritonsmith
