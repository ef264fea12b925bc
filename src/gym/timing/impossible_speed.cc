#include "gym/timing/impossible_speed.h"

#include <fmt/format.h>

namespace tritonsmith::gym::timing {

std::optional<Finding> find_impossible_speed(const plan::analysis::LeastWork& work,
                                             const cuda::GpuFacts& gpu, double milliseconds) {
  const auto finding = [&](std::string rule, double floor_ms, const std::string& what) {
    return Finding{.rule = std::move(rule),
                   .severity = Severity::reject,
                   .message = fmt::format("{:.4f} ms are less than the {:.4f} ms that {} takes",
                                          milliseconds, floor_ms, what)};
  };
  // The clock may stop while the cache still holds the last bytes, so these do not count.
  const double bytes = work.bytes - static_cast<double>(gpu.cache_bytes);
  const double bus_ms = gpu.bytes_per_second > 0 ? 1e3 * bytes / gpu.bytes_per_second : 0;
  if (milliseconds < bus_ms)
    return finding("faster_than_memory", bus_ms,
                   fmt::format("moving {:.3f} GB to and from the memory", work.bytes / 1e9));
  // Strassen's way saves an eighth a level, and nobody goes beyond a few.
  constexpr double no_algorithm_saves = 0.5;
  const double arithmetic_ms =
      gpu.flops_per_second > 0 ? 1e3 * no_algorithm_saves * work.flops / gpu.flops_per_second : 0;
  if (milliseconds < arithmetic_ms)
    return finding("faster_than_arithmetic", arithmetic_ms,
                   fmt::format("half of {:.1f} GFLOP", work.flops / 1e9));
  return std::nullopt;
}

}  // namespace tritonsmith::gym::timing
