#include "algorithm/advantage.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace tritonsmith::algorithm {
namespace {

struct Moments {
  double count = 0, mean = 0, squares = 0;  // squares: the sum of (r - mean)^2

  double deviation(Deviation kind) const {
    const double freedom = kind == Deviation::unbiased ? count - 1 : count;
    return freedom > 0 ? std::sqrt(squares / freedom) : 0;
  }
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

bool divides_by_the_batch(AdvantageRule rule) {
  return rule == AdvantageRule::batch_std || rule == AdvantageRule::reinforce_baseline;
}

// Returns the factor of (r_i - mean) in a group. The group has at least two different rewards.
double scale_of(const Moments& moments, const AdvantageOptions& options) {
  switch (options.rule) {
    case AdvantageRule::grpo:
      return 1.0 / (moments.deviation(options.deviation) + options.epsilon);
    case AdvantageRule::rloo:
    case AdvantageRule::trloo:
      return moments.count / (moments.count - 1);
    case AdvantageRule::mean_only:
    case AdvantageRule::batch_std:
    case AdvantageRule::reinforce_baseline:
      break;
  }
  return 1.0;
}

std::vector<double> within_group(std::span<const MaybeReward> rewards,
                                 const AdvantageOptions& options) {
  std::vector<double> advantages(rewards.size(), 0.0);
  const Moments moments = moments_of(rewards);
  const bool is_single = moments.count == 1;
  if (is_single ? options.singleton == Singleton::zero : is_without_variance(rewards))
    return advantages;
  const double baseline = is_single ? 0.0 : moments.mean;
  const double scale = is_single ? 1.0 : scale_of(moments, options);
  for (std::size_t i = 0; i < rewards.size(); ++i)
    if (rewards[i]) advantages[i] = (*rewards[i] - baseline) * scale;
  return advantages;
}

// Divides all advantages of the batch by one number.
void divide_by_batch(std::span<const Outcome> outcomes, const AdvantageOptions& options,
                     std::vector<double>& advantages) {
  std::vector<MaybeReward> values;
  for (std::size_t i = 0; i < outcomes.size(); ++i) {
    if (!outcomes[i].reward) continue;
    values.emplace_back(options.rule == AdvantageRule::batch_std ? *outcomes[i].reward
                                                                 : advantages[i]);
  }
  const double divisor = deviation_of(values, options.deviation) + options.epsilon;
  for (double& advantage : advantages)
    if (advantage != 0) advantage /= divisor;  // some rewards differ, so the divisor is not 0
}

}  // namespace

bool is_without_variance(std::span<const MaybeReward> rewards) {
  const auto first = std::ranges::find_if(rewards, [](const auto& r) { return r.has_value(); });
  return std::ranges::all_of(rewards, [&](const auto& r) { return !r || *r == **first; });
}

double deviation_of(std::span<const MaybeReward> rewards, Deviation deviation) {
  return moments_of(rewards).deviation(deviation);
}

std::vector<double> batch_advantages(std::span<const Outcome> outcomes,
                                     const AdvantageOptions& options) {
  std::map<std::size_t, std::vector<std::size_t>> groups;
  for (std::size_t i = 0; i < outcomes.size(); ++i) groups[outcomes[i].group].push_back(i);
  std::vector<double> advantages(outcomes.size(), 0.0);
  for (const auto& [group, members] : groups) {
    std::vector<MaybeReward> rewards;
    for (const std::size_t member : members) rewards.push_back(outcomes[member].reward);
    const std::vector<double> own = within_group(rewards, options);
    for (std::size_t i = 0; i < members.size(); ++i) advantages[members[i]] = own[i];
  }
  if (divides_by_the_batch(options.rule)) divide_by_batch(outcomes, options, advantages);
  return advantages;
}

std::vector<double> group_advantages(std::span<const MaybeReward> rewards,
                                     const AdvantageOptions& options) {
  std::vector<Outcome> outcomes;
  for (const MaybeReward& reward : rewards) outcomes.push_back({.group = 0, .reward = reward});
  return batch_advantages(outcomes, options);
}

}  // namespace tritonsmith::algorithm
