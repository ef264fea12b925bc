// Policy loss: each sampled token's loss and its derivative by that token's own log-probability.
// The trainer feeds the derivatives (times the aggregation weights) straight into the backward pass
// of the log-probabilities, so the gradient is a sum of coefficient * d logprob, and no autograd
// graph hangs on the loss. Pure; any device.
//
// With l the log-probability now, l_old the trainer's at rollout time, A the advantage, L the
// tokens of a completion, rho = exp(l - l_old), bounded rho = clip(rho, 1 - clip_low, 1 +
// clip_high):
//   clip      -min(rho A, bounded rho A)              PPO, arXiv 1707.06347; asymmetric bounds
//                                                     ("clip higher"): DAPO, arXiv 2503.14476
//   dual clip min(that, -dual_clip A) where A < 0     arXiv 1912.09729: bounds what a bad token
//   that
//                                                     became likelier can pull
//   gspo      clip with rho = exp(mean over the completion of (l - l_old)); d rho / d l = rho / L,
//             and as each of the L tokens carries the sequence's loss, -rho A a token
//                                                     GSPO (-token), arXiv 2507.18071
//   cispo     -sg(bounded rho) A l: the weight is bounded, the gradient of no token is lost
//                                                     MiniMax-M1, arXiv 2506.13585
// times the mismatch weight (mismatch.h), through which no gradient flows, plus kl_beta times the
// estimate of the KL (kl.h), which the weight does not touch.
//
// grpo, dr_grpo, dapo and bnpo are all `clip`; they differ in what they divide by (aggregation.h).
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
  double dual_clip = 0;  // 0: off; else above 1 + clip_high
  double kl_beta = 0;    // of the term in the loss
  KlEstimator kl_estimator = KlEstimator::k3;
};

// All of them fp32 [N], without gradient history.
struct PolicyTokens {
  at::Tensor logprob;            // l
  at::Tensor old_logprob;        // l_old
  at::Tensor reference_logprob;  // undefined unless kl_beta > 0
  at::Tensor advantage;          // A
  at::Tensor mismatch_weight;    // undefined: 1
  at::Tensor sequence;           // int64 [N]: which completion a token is of (gspo only); whole
                                 // completions only, numbered from 0
};

struct PolicyLoss {
  at::Tensor loss;        // [N]
  at::Tensor derivative;  // [N], d loss / d logprob
  at::Tensor is_clipped;  // [N] bool: a bound holds; but for cispo it stops the token's gradient
  at::Tensor kl;          // [N], before kl_beta; undefined unless kl_beta > 0
};

// Log-ratios are limited to +-20 before exp, so that one absurd token gives a large number and
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
