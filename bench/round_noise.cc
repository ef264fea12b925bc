#include "round_noise.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace tritonsmith {
namespace {

double mean_of(const std::vector<double>& values) {
  if (values.empty()) return 0;
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double squares_about(const std::vector<double>& values, double center) {
  double sum = 0;
  for (const double value : values) sum += (value - center) * (value - center);
  return sum;
}

std::vector<double> times_of(const Rounds& rounds) {
  std::vector<double> times;
  for (const gym::timing::TimedRound& round : rounds) times.push_back(round.candidate_ms);
  return times;
}

double share_apart(const std::vector<double>& values) {
  const auto [low, high] = std::ranges::minmax(values);
  return high / low - 1;
}

struct Heaps {
  double apart = 0, upper_share = 0;
};

// Tries every split of the sorted rounds and takes the one with the least scatter within both
// parts.
Heaps heaps_of(std::vector<double> times) {
  std::ranges::sort(times);
  Heaps best;
  double least = squares_about(times, mean_of(times));
  for (std::size_t split = 2; split + 2 <= times.size(); ++split) {
    const std::vector<double> lower(times.begin(), times.begin() + static_cast<long>(split));
    const std::vector<double> upper(times.begin() + static_cast<long>(split), times.end());
    const double below = mean_of(lower), above = mean_of(upper);
    const double within = squares_about(lower, below) + squares_about(upper, above);
    if (within >= least) continue;
    least = within;
    const double scatter = std::sqrt(within / static_cast<double>(times.size()));
    best = {.apart = scatter > 0 ? (above - below) / scatter : 0,
            .upper_share = static_cast<double>(upper.size()) / static_cast<double>(times.size())};
  }
  return best;
}

// Returns the mean of the rounds for which `is_one` holds against that of the others, within each
// judgement.
double effect(const std::vector<Rounds>& judgements,
              const std::function<bool(const Rounds&, std::size_t)>& is_one) {
  std::vector<double> shares;
  for (const Rounds& rounds : judgements) {
    std::vector<double> those, others;
    for (std::size_t k = 0; k < rounds.size(); ++k)
      (is_one(rounds, k) ? those : others).push_back(rounds[k].candidate_ms);
    if (!those.empty() && !others.empty()) shares.push_back(mean_of(those) / mean_of(others) - 1);
  }
  return mean_of(shares);
}

double correlation_of_neighbours(const std::vector<double>& times) {
  const double center = mean_of(times);
  double product = 0;
  for (std::size_t k = 1; k < times.size(); ++k)
    product += (times[k] - center) * (times[k - 1] - center);
  const double all = squares_about(times, center);
  return all > 0 ? product / all : 0;
}

double least_step_ns(const std::vector<Rounds>& judgements) {
  constexpr double same_ns = 1;
  std::vector<double> all;
  for (const Rounds& rounds : judgements)
    for (const double time : times_of(rounds)) all.push_back(1e6 * time);
  std::ranges::sort(all);
  double least = 0;
  for (std::size_t k = 1; k < all.size(); ++k)
    if (const double step = all[k] - all[k - 1]; step > same_ns && (least == 0 || step < least))
      least = step;
  return least;
}

}  // namespace

double median_of(std::vector<double> values) {
  std::ranges::sort(values);
  const std::size_t half = values.size() / 2;
  if (values.empty()) return 0;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

double midmean_of(std::vector<double> values) {
  std::ranges::sort(values);
  const auto quarter = static_cast<long>(values.size() / 4);
  return mean_of({values.begin() + quarter, values.end() - quarter});
}

Estimator median_of_means(std::size_t group) {
  return [group](const std::vector<double>& values) {
    std::vector<double> means;
    for (std::size_t k = 0; k + group <= values.size(); k += group)
      means.push_back(mean_of(
          {values.begin() + static_cast<long>(k), values.begin() + static_cast<long>(k + group)}));
    return median_of(means);
  };
}

double apart(const std::vector<Rounds>& judgements, const Estimator& estimate) {
  std::vector<double> estimates;
  for (const Rounds& rounds : judgements) estimates.push_back(estimate(times_of(rounds)));
  return share_apart(estimates);
}

RoundNoise noise_of(const std::vector<Rounds>& judgements) {
  RoundNoise noise;
  std::vector<double> medians, means, spreads, neighbours, heaps, uppers, expected;
  for (const Rounds& rounds : judgements) {
    const std::vector<double> times = times_of(rounds);
    const double n = static_cast<double>(times.size());
    std::vector<double> sorted = times;
    std::ranges::sort(sorted);
    medians.push_back(median_of(times));
    means.push_back(mean_of(times));
    expected.push_back(squares_about(times, means.back()) / std::max(1.0, n - 1) / n);
    spreads.push_back((sorted[sorted.size() * 9 / 10] - sorted[sorted.size() / 10]) /
                      medians.back());
    neighbours.push_back(correlation_of_neighbours(times));
    const Heaps found = heaps_of(times);
    heaps.push_back(found.apart);
    uppers.push_back(found.upper_share);
    noise.rounds += static_cast<int>(times.size());
  }
  noise.rounds /= static_cast<int>(judgements.size());
  noise.low_ms = std::ranges::min(medians);
  noise.high_ms = std::ranges::max(medians);
  noise.apart = share_apart(medians);
  noise.spread = median_of(spreads);
  noise.neighbours = mean_of(neighbours);
  noise.heaps = median_of(heaps);
  noise.upper_share = mean_of(uppers);
  const double judged = static_cast<double>(judgements.size());
  const double variance = squares_about(means, mean_of(means)) / std::max(1.0, judged - 1);
  noise.between = mean_of(expected) > 0 ? variance / mean_of(expected) : 0;
  noise.first =
      effect(judgements, [](const Rounds& all, std::size_t k) { return all[k].is_first; });
  noise.referenced = effect(judgements, [](const Rounds& all, std::size_t k) {
    return k > 0 && all[k - 1].with_reference;
  });
  noise.step_ns = least_step_ns(judgements);
  return noise;
}

}  // namespace tritonsmith
