// Estimates KL(policy || reference) from one sampled token, with x = l_ref - l:
//   k1  -x             unbiased, of either sign
//   k2  x^2 / 2        biased, small variance; its gradient is that of the KL on average
//   k3  e^x - x - 1    unbiased, never negative
// (Schulman, "Approximating KL divergence", 2020). In the loss the gradient flows through l: d k1 =
// 1, d k2 = -x, d k3 = 1 - e^x. The mean of d k1 * grad l over the policy's own samples is 0. k1
// therefore teaches nothing in the loss and belongs into the reward. The functions are pure and run
// on any device.
//
// On-policy distillation lowers the reverse KL to a teacher, KL(policy || teacher), token by token
// over the policy's own samples (GKD, arXiv 2306.13649; MiniLLM, arXiv 2306.08543). For one token,
//   grad KL = sum over v of policy(v) (l(v) - l_teacher(v)) grad l(v),
// so the policy gradient with the advantage l_teacher - l follows it. What a token does to the KL
// of later tokens is left out (a discount of 0).
#pragma once

#include <ATen/core/Tensor.h>

#include <span>
#include <vector>

#include "base/enum_names.h"

namespace tritonsmith::algorithm {

enum class KlEstimator { k1, k2, k3 };

// The term that the penalty kl_beta * k joins. loss: each token's loss. reward: the sum over a
// completion lowers its reward (RLOO, arXiv 2402.14740).
enum class KlTerm { loss, reward };

struct KlTokens {
  at::Tensor value;       // [N]
  at::Tensor derivative;  // [N], d value / d logprob
};

// x is limited to +-20, so that an extreme token gives a large number and never infinity.
KlTokens kl_of_tokens(const at::Tensor& logprob, const at::Tensor& reference,
                      KlEstimator estimator);

// Returns the sum over the tokens of one completion.
double kl_of_completion(std::span<const float> logprobs, std::span<const float> reference,
                        KlEstimator estimator);

// Returns l_teacher - l of each token of one completion, within +-20.
std::vector<double> distillation_advantages(std::span<const float> logprobs,
                                            std::span<const float> teacher);

}  // namespace tritonsmith::algorithm

namespace tritonsmith {
template <>
inline constexpr auto enum_names<algorithm::KlEstimator> =
    names<algorithm::KlEstimator>({{algorithm::KlEstimator::k1, "k1"},
                                   {algorithm::KlEstimator::k2, "k2"},
                                   {algorithm::KlEstimator::k3, "k3"}});
template <>
inline constexpr auto enum_names<algorithm::KlTerm> = names<algorithm::KlTerm>(
    {{algorithm::KlTerm::loss, "loss"}, {algorithm::KlTerm::reward, "reward"}});
}  // namespace tritonsmith
