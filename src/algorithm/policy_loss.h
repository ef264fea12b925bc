// Computes each sampled token's loss and its derivative by that token's log-probability. The
// trainer multiplies the derivatives by the aggregation weights and feeds them into the backward
// pass of the log-probabilities. The gradient is thus a sum of coefficient * d logprob, and the
// loss needs no autograd graph. The functions are pure and run on any device.
//
// l is the current log-probability, l_old the trainer's at rollout time. A is the advantage and L
// the number of tokens of a completion. rho = exp(l - l_old), and bounded rho = clip(rho, 1 -
// clip_low, 1 + clip_high).
//   clip       -min(rho A, bounded rho A)             PPO, arXiv 1707.06347; asymmetric bounds
//                                                     ("clip higher"): DAPO, arXiv 2503.14476
//   dual clip  min(that, -dual_clip A) where A < 0    arXiv 1912.09729: bounds the effect of a bad
//                                                     token that became likelier
//   gspo       clip with rho = exp(mean over the completion of (l - l_old)); d rho / d l = rho / L.
//              Each of the L tokens carries the sequence's loss, so a token has -rho A
//                                                     GSPO (-token), arXiv 2507.18071
//   cispo      -sg(bounded rho) A l: the weight is bounded, and every token keeps its gradient
//                                                     MiniMax-M1, arXiv 2506.13585
// This term is multiplied by the mismatch weight (mismatch.h), through which no gradient flows. The
// KL term, kl_beta times the estimate of kl.h, is added without that weight.
//
// grpo, dr_grpo, dapo and bnpo are all `clip`. They differ in their divisor (aggregation.h).
#pragma once

#include <ATen/core/Tensor.h>

#include "algorithm/aggregation.h"
#include "algorithm/kl.h"

namespace tritonsmith::algorithm {

enum class Loss { grpo, dr_grpo, dapo, bnpo, gspo, cispo };
Aggregation aggregation_of(Loss loss);

struct PolicyOptions {
  Loss loss = Loss::dapo;
  double clip_low = 0.2;
  double clip_high = 0.28;
  double dual_clip = 0;  // 0: off; otherwise it must exceed 1 + clip_high
  double kl_beta = 0;    // coefficient of the KL term in the loss
  KlEstimator kl_estimator = KlEstimator::k3;
};

// All tensors are fp32 [N] without gradient history.
struct PolicyTokens {
  at::Tensor logprob;            // l
  at::Tensor old_logprob;        // l_old
  at::Tensor reference_logprob;  // undefined unless kl_beta > 0
  at::Tensor advantage;          // A
  at::Tensor mismatch_weight;    // undefined: 1
  // int64 [N], for gspo only: the completion of each token, numbered from 0. All tokens of each
  // completion must be present.
  at::Tensor sequence;
};

struct PolicyLoss {
  at::Tensor loss;        // [N]
  at::Tensor derivative;  // [N], d loss / d logprob
  // [N] bool: a bound is active; except in cispo it stops the token's gradient
  at::Tensor is_clipped;
  at::Tensor kl;  // [N], before kl_beta; undefined unless kl_beta > 0
};

// Log-ratios are limited to +-20 before exp, so that an extreme token gives a large number and
// never infinity.
PolicyLoss policy_loss(const PolicyTokens& tokens, const PolicyOptions& options);

}  // namespace tritonsmith::algorithm

namespace tritonsmith {
template <>
inline constexpr auto enum_names<algorithm::Loss> =
    names<algorithm::Loss>({{algorithm::Loss::grpo, "grpo"},
                            {algorithm::Loss::dr_grpo, "dr_grpo"},
                            {algorithm::Loss::dapo, "dapo"},
                            {algorithm::Loss::bnpo, "bnpo"},
                            {algorithm::Loss::gspo, "gspo"},
                            {algorithm::Loss::cispo, "cispo"}});
}  // namespace tritonsmith
