#include "algorithm/policy_loss.h"

#include <ATen/ATen.h>

#include "algorithm/log_ratio.h"
#include "base/check.h"

namespace tritonsmith::algorithm {
namespace {

// Replaces each token's log-ratio by the mean over its completion.
at::Tensor mean_of_sequence(const at::Tensor& log_ratio, const at::Tensor& sequence) {
  CHECK(sequence.defined(), "gspo needs to know which completion a token is of");
  if (log_ratio.numel() == 0) return log_ratio;
  const std::int64_t count = sequence.max().item<std::int64_t>() + 1;
  const auto sum = [&](const at::Tensor& values) {
    return at::zeros({count}, values.options()).index_add(0, sequence, values);
  };
  const at::Tensor mean = sum(log_ratio) / sum(at::ones_like(log_ratio));  // [completions]
  return mean.index_select(0, sequence);
}

at::Tensor ratio_of(const PolicyTokens& tokens, const PolicyOptions& options) {
  at::Tensor log_ratio = tokens.logprob - tokens.old_logprob;  // [N]
  if (options.loss == Loss::gspo) log_ratio = mean_of_sequence(log_ratio, tokens.sequence);
  return log_ratio.clamp(-kLargestLogRatio, kLargestLogRatio).exp();
}

PolicyLoss clipped(const at::Tensor& ratio, const at::Tensor& bounded, const at::Tensor& advantage,
                   double dual_clip) {
  const at::Tensor gain = ratio * advantage, bounded_gain = bounded * advantage;
  PolicyLoss result;
  result.is_clipped = bounded_gain < gain;
  result.loss = -at::min(gain, bounded_gain);
  if (dual_clip > 0) {
    const at::Tensor most = -dual_clip * advantage;
    const at::Tensor is_cut = (advantage < 0).logical_and(most < result.loss);
    result.is_clipped = result.is_clipped.logical_or(is_cut);
    result.loss = at::where(is_cut, most, result.loss);
  }
  // d rho / d l = rho
  result.derivative = at::where(result.is_clipped, at::zeros_like(gain), -gain);
  return result;
}

PolicyLoss weighted_logprob(const at::Tensor& ratio, const at::Tensor& bounded,
                            const PolicyTokens& tokens) {
  PolicyLoss result;
  result.is_clipped = bounded != ratio;
  result.derivative = -bounded * tokens.advantage;
  result.loss = result.derivative * tokens.logprob;
  return result;
}

}  // namespace

Aggregation aggregation_of(Loss loss) {
  switch (loss) {
    case Loss::grpo:
    case Loss::gspo:
      return Aggregation::sequence_mean;
    case Loss::dr_grpo:
      return Aggregation::fixed_length;
    case Loss::dapo:
    case Loss::cispo:
      return Aggregation::step_token_mean;
    case Loss::bnpo:
      break;
  }
  return Aggregation::token_mean;
}

PolicyLoss policy_loss(const PolicyTokens& tokens, const PolicyOptions& options) {
  const at::Tensor ratio = ratio_of(tokens, options);  // [N]
  const at::Tensor bounded = ratio.clamp(1 - options.clip_low, 1 + options.clip_high);
  PolicyLoss result = options.loss == Loss::cispo
                          ? weighted_logprob(ratio, bounded, tokens)
                          : clipped(ratio, bounded, tokens.advantage, options.dual_clip);
  if (tokens.mismatch_weight.defined()) {
    result.loss = result.loss * tokens.mismatch_weight;
    result.derivative = result.derivative * tokens.mismatch_weight;
  }
  if (options.kl_beta > 0) {
    CHECK(tokens.reference_logprob.defined(), "kl_beta > 0 needs the reference");
    const KlTokens kl =
        kl_of_tokens(tokens.logprob, tokens.reference_logprob, options.kl_estimator);
    result.kl = kl.value;
    result.loss = result.loss + options.kl_beta * kl.value;
    result.derivative = result.derivative + options.kl_beta * kl.derivative;
  }
  return result;
}

}  // namespace tritonsmith::algorithm
