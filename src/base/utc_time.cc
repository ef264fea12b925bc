#include "base/utc_time.h"

#include <fmt/chrono.h>

#include <chrono>

namespace tritonsmith {

std::string utc_time() {
  const auto now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
  return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(now));
}

std::int64_t unix_milliseconds() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::milliseconds>(now).count();
}

std::string utc_time(std::int64_t unix_ms) {
  return fmt::format("{:%Y-%m-%dT%H:%M:%S}.{:03d}Z", fmt::gmtime(std::time_t{unix_ms / 1000}),
                     unix_ms % 1000);
}

}  // namespace tritonsmith
