#include "gym/referee/sampling.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace tritonsmith::gym {
namespace {

// Between two samples where none is in the middle.
double at_share(const std::vector<double>& sorted, double share) {
  const double place = share * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return std::lerp(sorted[below], sorted[above], place - static_cast<double>(below));
}

}  // namespace

MedianInterval median_interval(std::vector<double> samples) {
  if (samples.empty()) return {};
  std::ranges::sort(samples);
  const auto n = static_cast<double>(samples.size());
  const double reach = 1.96 * std::sqrt(n) / 2;
  MedianInterval interval{.median = at_share(samples, 0.5)};
  const double low = std::floor(n / 2 - reach), high = std::ceil(n / 2 + reach);
  interval.known = low >= 1 && high <= n;
  if (!interval.known) return interval;
  interval.low = samples[static_cast<std::size_t>(low) - 1];
  interval.high = samples[static_cast<std::size_t>(high) - 1];
  return interval;
}

bool confirms(const std::vector<double>& now, const std::vector<double>& earlier, double share) {
  const MedianInterval today = median_interval(now), before = median_interval(earlier);
  const double near = share * before.median;
  return today.known && before.within(share) && today.low <= before.median + near &&
         today.high >= before.median - near;
}

Timing timing_of(std::vector<double> milliseconds) {
  if (milliseconds.empty()) return {};
  std::ranges::sort(milliseconds);
  const double sum = std::accumulate(milliseconds.begin(), milliseconds.end(), 0.0);
  return {.median = at_share(milliseconds, 0.5),
          .mean = sum / static_cast<double>(milliseconds.size()),
          .p10 = at_share(milliseconds, 0.1),
          .p90 = at_share(milliseconds, 0.9),
          .n = static_cast<int>(milliseconds.size())};
}

}  // namespace tritonsmith::gym
