#include "algorithm/advantage.h"

#include <algorithm>
#include <cmath>

namespace tritonsmith::algorithm {
namespace {

struct Moments {
  double count = 0, mean = 0, squares = 0;  // squares: sum of (r - mean)^2
};

Moments moments_of(std::span<const MaybeReward> rewards) {
  Moments moments;
  for (const MaybeReward& reward : rewards) {
    if (!reward) continue;
    moments.count += 1;
    moments.mean += *reward;
  }
  if (moments.count > 0) moments.mean /= moments.count;
  for (const MaybeReward& reward : rewards)
    if (reward) moments.squares += (*reward - moments.mean) * (*reward - moments.mean);
  return moments;
}

// What (r_i - mean) is multiplied by; the group has at least two rewards that differ.
double scale_of(const Moments& moments, const AdvantageOptions& options) {
  switch (options.rule) {
    case AdvantageRule::mean_only:
      return 1.0;
    case AdvantageRule::rloo:
      return moments.count / (moments.count - 1);
    case AdvantageRule::grpo:
      break;
  }
  const double freedom =
      options.deviation == Deviation::unbiased ? moments.count - 1 : moments.count;
  return 1.0 / (std::sqrt(moments.squares / freedom) + options.epsilon);
}

}  // namespace

bool is_without_variance(std::span<const MaybeReward> rewards) {
  const auto first = std::ranges::find_if(rewards, [](const auto& r) { return r.has_value(); });
  return std::ranges::all_of(rewards, [&](const auto& r) { return !r || *r == **first; });
}

std::vector<double> group_advantages(std::span<const MaybeReward> rewards,
                                     const AdvantageOptions& options) {
  std::vector<double> advantages(rewards.size(), 0.0);
  if (is_without_variance(rewards)) return advantages;
  const Moments moments = moments_of(rewards);
  const double scale = scale_of(moments, options);
  for (std::size_t i = 0; i < rewards.size(); ++i)
    if (rewards[i]) advantages[i] = (*rewards[i] - moments.mean) * scale;
  return advantages;
}

}  // namespace tritonsmith::algorithm
