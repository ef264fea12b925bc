// Mismatch: corrects for a sampler whose log-probabilities differ from the trainer's. Both have the
// same weights, but other kernels or another precision. l_old is the trainer's log-probability at
// rollout time, l_inf the sampler's. A ratio is taken for each token or for a whole completion:
//   token level     w_t = exp(l_old_t - l_inf_t)
//   sequence level  w_t = exp(sum over the completion of (l_old - l_inf)), the same for each token
// The policy term of each token is multiplied by a weight; the KL term is not:
//   truncate   min(w, cap)                        truncated importance sampling: "Your efficient RL
//                                                 framework secretly brings you off-policy RL
//                                                 training", 2025
//   mask       w where floor <= w <= cap, else 0  masked importance sampling: IcePop, 2025
// Alternatively whole samples are rejected, as in Dr. Kernel's mismatch rejection sampling (MRS,
// arXiv 2602.05885):
//   band  a trajectory is kept if low <= exp(mean over all its tokens of (l_old - l_inf)) <= high
//   veto  a turn is left out if the ratio of any of its tokens is below `veto`
// Log-ratios are limited to +-20. The functions are pure and run on the host, because the weights
// must be known before the normalisers of the step are.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/enum_names.h"

namespace tritonsmith::algorithm {

enum class MismatchRule { off, token_truncate, token_mask, sequence_truncate, sequence_mask };

struct MismatchOptions {
  MismatchRule rule = MismatchRule::off;
  double cap = 3.0;
  double floor = 0.0;  // lower bound of the masks
};

// Returns the weight of each token of one completion.
std::vector<float> mismatch_weights(std::span<const float> old_logprobs,
                                    std::span<const float> sampler_logprobs,
                                    const MismatchOptions& options);

// The log-ratios of one turn, or the sum over the turns of a trajectory.
struct LogRatios {
  double sum = 0, lowest = 0;
  std::int64_t tokens = 0;

  void add(std::span<const float> old_logprobs, std::span<const float> sampler_logprobs);
  void add(const LogRatios& other);
  double geometric_mean() const;  // of the ratios; 1 without tokens
};

struct MismatchRejection {
  double band_low = 0, band_high = 0;  // band_high 0: no band
  double veto = 0;                     // 0: no veto

  bool is_on() const { return band_high > 0 || veto > 0; }
  bool keeps_trajectory(const LogRatios& trajectory) const;
  bool keeps_turn(const LogRatios& turn) const;
};

}  // namespace tritonsmith::algorithm

namespace tritonsmith {
template <>
inline constexpr auto enum_names<algorithm::MismatchRule> = names<algorithm::MismatchRule>(
    {{algorithm::MismatchRule::off, "off"},
     {algorithm::MismatchRule::token_truncate, "token_truncate"},
     {algorithm::MismatchRule::token_mask, "token_mask"},
     {algorithm::MismatchRule::sequence_truncate, "sequence_truncate"},
     {algorithm::MismatchRule::sequence_mask, "sequence_mask"}});
}  // namespace tritonsmith
