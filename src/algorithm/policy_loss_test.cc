#include "algorithm/policy_loss.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>

namespace tritonsmith::algorithm {
namespace {

at::Tensor row(std::vector<double> values) { return at::tensor(values, at::kDouble); }

// A ratio of e^(l - 0) = `ratio` for one token with the given advantage.
PolicyLoss one_token(double ratio, double advantage, PolicyOptions options = {}) {
  return policy_loss({.logprob = row({std::log(ratio)}),
                      .old_logprob = row({0}),
                      .sampler_logprob = {},
                      .reference_logprob = {},
                      .advantage = row({advantage})},
                     options);
}

struct ClipCase {
  double ratio, advantage, loss, derivative;
  bool is_clipped;
};

TEST(PolicyLoss, ClipsTheRatioAsymmetrically) {
  // Bounds 0.8 and 1.3. A good token stops pushing above 1.3, a bad one below 0.8.
  for (const ClipCase& c : std::vector<ClipCase>{{1.0, 2, -2.0, -2.0, false},
                                                 {1.25, 2, -2.5, -2.5, false},
                                                 {1.5, 2, -2.6, 0, true},
                                                 {0.5, 2, -1.0, -1.0, false},
                                                 {1.5, -2, 3.0, 3.0, false},
                                                 {0.9, -2, 1.8, 1.8, false},
                                                 {0.5, -2, 1.6, 0, true}}) {
    const auto result = one_token(c.ratio, c.advantage, {.clip_low = 0.2, .clip_high = 0.3});
    EXPECT_NEAR(result.loss.item<double>(), c.loss, 1e-12) << c.ratio << " " << c.advantage;
    EXPECT_NEAR(result.derivative.item<double>(), c.derivative, 1e-12) << c.ratio;
    EXPECT_EQ(result.is_clipped.item<bool>(), c.is_clipped) << c.ratio << " " << c.advantage;
  }
}

TEST(PolicyLoss, PenalisesDistanceFromTheReferenceByK3) {
  // x = l_ref - l = ln 2: k3 = 2 - ln 2 - 1, derivative 1 - 2.
  const auto result = policy_loss({.logprob = row({-1.0}),
                                   .old_logprob = row({-1.0}),
                                   .sampler_logprob = {},
                                   .reference_logprob = row({-1.0 + std::log(2.0)}),
                                   .advantage = row({0.0})},
                                  {.kl_beta = 0.5});
  EXPECT_NEAR(result.kl.item<double>(), 1 - std::log(2.0), 1e-12);
  EXPECT_NEAR(result.loss.item<double>(), 0.5 * (1 - std::log(2.0)), 1e-12);
  EXPECT_NEAR(result.derivative.item<double>(), -0.5, 1e-12);
}

TEST(PolicyLoss, WeighsASamplerThatDiffersUpToTheCap) {
  const PolicyTokens tokens{.logprob = row({-1, -1}),
                            .old_logprob = row({-1, -1}),
                            .sampler_logprob = row({-1 - std::log(1.5), -1 - std::log(9.0)}),
                            .reference_logprob = {},
                            .advantage = row({1, 1})};
  const auto result = policy_loss(tokens, {.mismatch_cap = 2});
  EXPECT_NEAR(result.derivative[0].item<double>(), -1.5, 1e-12);
  EXPECT_NEAR(result.derivative[1].item<double>(), -2.0, 1e-12);
}

TEST(PolicyLoss, HasTheDerivativeThatAutogradFinds) {
  const PolicyOptions options{
      .clip_low = 0.1, .clip_high = 0.2, .kl_beta = 0.3, .mismatch_cap = 1.5};
  at::manual_seed(7);
  const auto noise = [] { return at::randn({200}, at::kDouble) * 0.3 - 1; };
  PolicyTokens tokens{.logprob = noise(),
                      .old_logprob = noise(),
                      .sampler_logprob = noise(),
                      .reference_logprob = noise(),
                      .advantage = at::randn({200}, at::kDouble)};
  const at::Tensor derivative = policy_loss(tokens, options).derivative;
  tokens.logprob.requires_grad_();
  policy_loss(tokens, options).loss.sum().backward();
  EXPECT_TRUE(at::allclose(derivative, tokens.logprob.grad(), 1e-10, 1e-12));
}

TEST(PolicyLoss, StaysFiniteForAbsurdTokens) {
  const auto result = policy_loss({.logprob = row({0.0, -900.0}),
                                   .old_logprob = row({-900.0, 0.0}),
                                   .sampler_logprob = {},
                                   .reference_logprob = row({-900.0, 0.0}),
                                   .advantage = row({-1.0, 1.0})},
                                  {.kl_beta = 0.1});
  EXPECT_TRUE(at::isfinite(result.loss).all().item<bool>());
  EXPECT_TRUE(at::isfinite(result.derivative).all().item<bool>());
}

}  // namespace
}  // namespace tritonsmith::algorithm
