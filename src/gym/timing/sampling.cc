#include "gym/timing/sampling.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace tritonsmith::gym::timing {
namespace {

// Interpolates between two samples if none lies exactly at this share.
double at_share(const std::vector<double>& sorted, double share) {
  const double position = share * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(position);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return std::lerp(sorted[below], sorted[above], position - static_cast<double>(below));
}

// Returns the greatest r such that n throws of a fair coin show fewer than r heads with a
// probability of at most 2.5 %.
std::size_t rank_of_interval(std::size_t n) {
  double exactly = std::pow(0.5, static_cast<double>(n)), fewer = 0;
  std::size_t r = 0;
  while (r < n && fewer + exactly <= 0.025) {
    fewer += exactly;
    exactly *= static_cast<double>(n - r) / static_cast<double>(r + 1);
    ++r;
  }
  return r;
}

}  // namespace

std::optional<Clocks> median_clocks(const std::vector<Clocks>& readings) {
  if (readings.empty()) return std::nullopt;
  const auto median_of = [&](int Clocks::*clock) {
    std::vector<int> all;
    for (const Clocks& reading : readings) all.push_back(reading.*clock);
    const auto middle = all.begin() + std::ssize(all) / 2;
    std::ranges::nth_element(all, middle);
    return *middle;
  };
  return Clocks{.sm_mhz = median_of(&Clocks::sm_mhz), .memory_mhz = median_of(&Clocks::memory_mhz)};
}

MedianInterval median_interval(std::vector<double> samples) {
  if (samples.empty()) return {};
  std::ranges::sort(samples);
  MedianInterval interval{.median = at_share(samples, 0.5)};
  const std::size_t rank = rank_of_interval(samples.size());
  interval.known = rank > 0;
  if (!interval.known) return interval;
  interval.low = samples[rank - 1];
  interval.high = samples[samples.size() - rank];
  return interval;
}

bool confirms(const std::vector<double>& now, const std::vector<double>& earlier, double share) {
  const MedianInterval today = median_interval(now), before = median_interval(earlier);
  const double near = share * before.median;
  return today.known && before.within(share) && today.low <= before.median + near &&
         today.high >= before.median - near;
}

std::vector<double> means_of(const std::vector<double>& rounds, int group) {
  std::vector<double> means;
  const auto size = static_cast<std::size_t>(group);
  for (std::size_t first = 0; first + size <= rounds.size(); first += size) {
    double sum = 0;
    for (std::size_t k = first; k < first + size; ++k) sum += rounds[k];
    means.push_back(sum / group);
  }
  return means;
}

std::vector<double> samples_of(const std::vector<double>& rounds, int group) {
  std::vector<double> means = means_of(rounds, group);
  return median_interval(means).known ? means : rounds;
}

Timing timing_of(std::vector<double> milliseconds) {
  if (milliseconds.empty()) return {};
  std::ranges::sort(milliseconds);
  const double sum = std::accumulate(milliseconds.begin(), milliseconds.end(), 0.0);
  const MedianInterval interval = median_interval(milliseconds);
  return {.median = at_share(milliseconds, 0.5),
          .mean = sum / static_cast<double>(milliseconds.size()),
          .p10 = at_share(milliseconds, 0.1),
          .p90 = at_share(milliseconds, 0.9),
          .n = static_cast<int>(milliseconds.size()),
          .median_low = interval.low,
          .median_high = interval.high};
}

}  // namespace tritonsmith::gym::timing
