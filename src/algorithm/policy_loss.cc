#include "algorithm/policy_loss.h"

#include <ATen/ATen.h>

#include "base/check.h"

namespace tritonsmith::algorithm {
namespace {

constexpr double kLargestLogRatio = 20.0;

at::Tensor ratio_of(const at::Tensor& above, const at::Tensor& below) {
  return (above - below).clamp(-kLargestLogRatio, kLargestLogRatio).exp();
}

void add_kl(PolicyLoss& result, const PolicyTokens& tokens, double beta) {
  CHECK(tokens.reference_logprob.defined(), "kl_beta > 0 needs the reference's log-probabilities");
  const at::Tensor x = (tokens.reference_logprob - tokens.logprob)
                           .clamp(-kLargestLogRatio, kLargestLogRatio);  // [N]
  const at::Tensor ratio = x.exp();
  result.kl = ratio - x - 1;
  result.loss += beta * result.kl;
  result.derivative += beta * (1 - ratio);  // d/dl (e^x - x - 1) = -e^x + 1
}

}  // namespace

PolicyLoss policy_loss(const PolicyTokens& tokens, const PolicyOptions& options) {
  const at::Tensor& advantage = tokens.advantage;
  const at::Tensor ratio = ratio_of(tokens.logprob, tokens.old_logprob);  // [N]
  const at::Tensor bounded = ratio.clamp(1 - options.clip_low, 1 + options.clip_high);
  const at::Tensor gain = ratio * advantage;
  const at::Tensor bounded_gain = bounded * advantage;

  PolicyLoss result;
  result.is_clipped = bounded_gain < gain;
  result.loss = -at::min(gain, bounded_gain);
  result.derivative =
      at::where(result.is_clipped, at::zeros_like(gain), -gain);  // d rho / d l = rho
  if (options.mismatch_cap > 0) {
    CHECK(tokens.sampler_logprob.defined(), "mismatch_cap needs the sampler's log-probabilities");
    const at::Tensor weight =
        ratio_of(tokens.old_logprob, tokens.sampler_logprob).clamp_max(options.mismatch_cap);
    result.loss *= weight;
    result.derivative *= weight;
  }
  if (options.kl_beta > 0) add_kl(result, tokens, options.kl_beta);
  return result;
}

}  // namespace tritonsmith::algorithm
