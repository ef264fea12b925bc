#include "algorithm/mismatch.h"

#include <algorithm>
#include <cmath>

#include "algorithm/log_ratio.h"
#include "base/check.h"

namespace tritonsmith::algorithm {
namespace {

double bounded(double log_ratio) {
  return std::clamp(log_ratio, -kLargestLogRatio, kLargestLogRatio);
}

double weight_of(double log_ratio, const MismatchOptions& options) {
  const double ratio = std::exp(bounded(log_ratio));
  if (options.rule == MismatchRule::token_truncate ||
      options.rule == MismatchRule::sequence_truncate)
    return std::min(ratio, options.cap);
  return options.floor <= ratio && ratio <= options.cap ? ratio : 0.0;
}

}  // namespace

std::vector<float> mismatch_weights(std::span<const float> old_logprobs,
                                    std::span<const float> sampler_logprobs,
                                    const MismatchOptions& options) {
  LogRatios whole;
  whole.add(old_logprobs, sampler_logprobs);
  std::vector<float> weights(old_logprobs.size(), 1.0F);
  switch (options.rule) {
    case MismatchRule::off:
      break;
    case MismatchRule::token_truncate:
    case MismatchRule::token_mask:
      for (std::size_t t = 0; t < weights.size(); ++t)
        weights[t] = static_cast<float>(
            weight_of(static_cast<double>(old_logprobs[t]) - sampler_logprobs[t], options));
      break;
    case MismatchRule::sequence_truncate:
    case MismatchRule::sequence_mask:
      std::ranges::fill(weights, static_cast<float>(weight_of(whole.sum, options)));
      break;
  }
  return weights;
}

void LogRatios::add(std::span<const float> old_logprobs, std::span<const float> sampler_logprobs) {
  CHECK(old_logprobs.size() == sampler_logprobs.size(), "{} against {} tokens", old_logprobs.size(),
        sampler_logprobs.size());
  for (std::size_t t = 0; t < old_logprobs.size(); ++t) {
    const double log_ratio = static_cast<double>(old_logprobs[t]) - sampler_logprobs[t];
    add(LogRatios{.sum = log_ratio, .lowest = log_ratio, .tokens = 1});
  }
}

void LogRatios::add(const LogRatios& other) {
  sum += other.sum;
  lowest = std::min(lowest, other.lowest);
  tokens += other.tokens;
}

double LogRatios::geometric_mean() const {
  return tokens > 0 ? std::exp(bounded(sum / static_cast<double>(tokens))) : 1.0;
}

bool MismatchRejection::keeps_trajectory(const LogRatios& trajectory) const {
  const double ratio = trajectory.geometric_mean();
  return band_high <= 0 || (band_low <= ratio && ratio <= band_high);
}

bool MismatchRejection::keeps_turn(const LogRatios& turn) const {
  return veto <= 0 || turn.lowest >= std::log(veto);
}

}  // namespace tritonsmith::algorithm
