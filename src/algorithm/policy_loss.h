// Policy loss: each sampled token's loss and its derivative by that token's own log-probability.
// The trainer feeds the derivatives (times the aggregation weights) straight into the backward pass
// of the log-probabilities, so the gradient is a sum of coefficient * d logprob, and no autograd
// graph hangs on the loss. Pure; any device.
//
// With l the log-probability now, l_old the trainer's at rollout time, A the advantage, rho = exp(l
// - l_old):
//   clip   -min(rho A, clip(rho, 1 - clip_low, 1 + clip_high) A)            PPO, arXiv 1707.06347
//          asymmetric bounds ("clip higher")                                DAPO, arXiv 2503.14476
//   k3     kl_beta (e^x - x - 1), x = l_ref - l: an unbiased estimate of    Schulman,
//   "Approximating KL
//          KL(policy || reference), never negative                          divergence", 2020
//   mismatch  the clip term times min(exp(l_old - l_sampler), mismatch_cap)  truncated importance
//   sampling,
//          corrects for a sampler whose numbers differ from the trainer's    "Your efficient RL
//          framework (no gradient flows through it; the KL term is not touched)        secretly
//          brings you off-policy", 2025
#pragma once

#include <ATen/core/Tensor.h>

namespace tritonsmith::algorithm {

struct PolicyOptions {
  double clip_low = 0.2;
  double clip_high = 0.28;
  double kl_beta = 0;       // 0: no reference model is needed
  double mismatch_cap = 0;  // 0: off
};

// All of them fp32 [N], without gradient history.
struct PolicyTokens {
  at::Tensor logprob;            // l
  at::Tensor old_logprob;        // l_old
  at::Tensor sampler_logprob;    // undefined unless mismatch_cap > 0
  at::Tensor reference_logprob;  // undefined unless kl_beta > 0
  at::Tensor advantage;          // A, the sample's, repeated for each of its tokens
};

struct PolicyLoss {
  at::Tensor loss;        // [N]
  at::Tensor derivative;  // [N], d loss / d logprob
  at::Tensor is_clipped;  // [N] bool, the bound holds and stops the gradient of the clip term
  at::Tensor kl;          // [N], k3 before kl_beta; undefined unless kl_beta > 0
};

// Log-ratios are limited to +-20 before exp, so that one absurd token gives a large number and
// never infinity.
PolicyLoss policy_loss(const PolicyTokens& tokens, const PolicyOptions& options);

}  // namespace tritonsmith::algorithm
