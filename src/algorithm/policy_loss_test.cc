#include "algorithm/policy_loss.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>
#include <tuple>

namespace tritonsmith::algorithm {
namespace {

at::Tensor row(std::vector<double> values) { return at::tensor(values, at::kDouble); }

// A ratio of e^(l - 0) = `ratio` for one token with the given advantage.
PolicyLoss one_token(double ratio, double advantage, PolicyOptions options = {}) {
  PolicyTokens tokens;
  tokens.logprob = row({std::log(ratio)});
  tokens.old_logprob = row({0});
  tokens.advantage = row({advantage});
  return policy_loss(tokens, options);
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

TEST(PolicyLoss, BoundsTwiceWhatABadTokenPulls) {
  // A = -2, bounds 0.8 and 1.3, second bound at 3: from ratio 3 on the loss stays at 3 * 2.
  const PolicyOptions options{.clip_low = 0.2, .clip_high = 0.3, .dual_clip = 3};
  EXPECT_NEAR(one_token(2, -2, options).loss.item<double>(), 4, 1e-12);
  EXPECT_NEAR(one_token(2, -2, options).derivative.item<double>(), 4, 1e-12);
  EXPECT_NEAR(one_token(5, -2, options).loss.item<double>(), 6, 1e-12);
  EXPECT_EQ(one_token(5, -2, options).derivative.item<double>(), 0);
  EXPECT_TRUE(one_token(5, -2, options).is_clipped.item<bool>());
  EXPECT_NEAR(one_token(5, 2, options).loss.item<double>(), -2.6, 1e-12) << "good ones as ever";
}

TEST(PolicyLoss, OfCispoKeepsTheGradientOfBoundedTokens) {
  // ratio 2 bounded to 1.3: -1.3 * 2 * ln 2, derivative -1.3 * 2.
  const auto result = one_token(2, 2, {.loss = Loss::cispo, .clip_low = 0.2, .clip_high = 0.3});
  EXPECT_NEAR(result.loss.item<double>(), -2.6 * std::log(2.0), 1e-12);
  EXPECT_NEAR(result.derivative.item<double>(), -2.6, 1e-12);
  EXPECT_TRUE(result.is_clipped.item<bool>());
  EXPECT_FALSE(one_token(1.1, 2, {.loss = Loss::cispo}).is_clipped.item<bool>());
}

TEST(PolicyLoss, OfGspoTakesTheGeometricMeanOfACompletion) {
  // Completion 0 has ratios 2 and 8, so its sequence ratio is 4. Completion 1 has 1.1. Only the
  // first exceeds the bound of 1.3.
  PolicyTokens tokens;
  tokens.logprob = row({std::log(2.0), std::log(8.0), std::log(1.1)});
  tokens.old_logprob = row({0, 0, 0});
  tokens.advantage = row({1, 1, 1});
  tokens.sequence = at::tensor(std::vector<std::int64_t>{0, 0, 1}, at::kLong);
  const auto up = policy_loss(tokens, {.loss = Loss::gspo, .clip_high = 0.3});
  EXPECT_TRUE(at::allclose(up.loss, row({-1.3, -1.3, -1.1})));
  EXPECT_TRUE(at::allclose(up.derivative, row({0, 0, -1.1})));
  tokens.advantage = row({-1, -1, -1});
  const auto down = policy_loss(tokens, {.loss = Loss::gspo, .clip_high = 0.3});
  EXPECT_TRUE(at::allclose(down.derivative, row({4, 4, 1.1})));
}

TEST(PolicyLoss, WeighsTheMismatchButNotTheKl) {
  PolicyTokens tokens;
  tokens.logprob = tokens.old_logprob = row({-1, -1});
  tokens.reference_logprob = row({-1 + std::log(2.0), -1 + std::log(2.0)});
  tokens.advantage = row({1, 1});
  tokens.mismatch_weight = row({1.5, 0});
  const auto result = policy_loss(tokens, {.kl_beta = 0.5});
  EXPECT_NEAR(result.derivative[0].item<double>(), -1.5 - 0.5, 1e-12);
  EXPECT_NEAR(result.derivative[1].item<double>(), -0.5, 1e-12);
}

// Every loss with every estimator: the derivative equals that of autograd. For GSPO it is that of
// the sum over a completion, because each token carries the completion's whole loss.
class EveryLoss
    : public ::testing::TestWithParam<std::tuple<Loss, KlEstimator, double /* dual clip */>> {};
INSTANTIATE_TEST_SUITE_P(PolicyLoss, EveryLoss,
                         ::testing::Combine(::testing::Values(Loss::grpo, Loss::dr_grpo, Loss::dapo,
                                                              Loss::bnpo, Loss::gspo, Loss::cispo),
                                            ::testing::Values(KlEstimator::k1, KlEstimator::k2,
                                                              KlEstimator::k3),
                                            ::testing::Values(0.0, 1.5)));

TEST_P(EveryLoss, HasTheDerivativeThatAutogradFinds) {
  const auto [loss, estimator, dual_clip] = GetParam();
  const PolicyOptions options{.loss = loss,
                              .clip_low = 0.1,
                              .clip_high = 0.2,
                              .dual_clip = dual_clip,
                              .kl_beta = 0.3,
                              .kl_estimator = estimator};
  at::manual_seed(7);
  const auto noise = [] { return at::randn({200}, at::kDouble) * 0.4 - 1; };
  PolicyTokens tokens{.logprob = noise(),
                      .old_logprob = noise(),
                      .reference_logprob = noise(),
                      // One sign for each completion, because the sequence's clip is one decision.
                      .advantage = at::randn({40}, at::kDouble).repeat_interleave(5),
                      .mismatch_weight = at::rand({200}, at::kDouble),
                      .sequence = at::arange(40, at::kLong).repeat_interleave(5)};
  if (loss == Loss::gspo) tokens.mismatch_weight = at::Tensor();
  const PolicyLoss result = policy_loss(tokens, options);
  EXPECT_GT(result.is_clipped.sum().item<double>(), 5);
  tokens.logprob.requires_grad_();
  PolicyLoss graph;
  if (loss == Loss::cispo) {  // sg(): the ratio is a constant
    const at::Tensor weight = (tokens.logprob.detach() - tokens.old_logprob).exp().clamp(0.9, 1.2) *
                              tokens.mismatch_weight;
    graph.loss = -weight * tokens.advantage * tokens.logprob +
                 0.3 * kl_of_tokens(tokens.logprob, tokens.reference_logprob, estimator).value;
  } else {
    graph = policy_loss(tokens, options);
  }
  EXPECT_TRUE(at::allclose(result.loss, graph.loss.detach()));
  graph.loss.sum().backward();
  EXPECT_TRUE(at::allclose(result.derivative, tokens.logprob.grad(), 1e-10, 1e-12));
}

TEST_P(EveryLoss, StaysFiniteForAbsurdTokens) {
  const auto [loss, estimator, dual_clip] = GetParam();
  PolicyTokens tokens;
  tokens.logprob = row({0.0, -900.0});
  tokens.old_logprob = row({-900.0, 0.0});
  tokens.reference_logprob = row({-900.0, 0.0});
  tokens.advantage = row({-1.0, 1.0});
  tokens.sequence = at::tensor(std::vector<std::int64_t>{0, 1}, at::kLong);
  const auto result = policy_loss(
      tokens, {.loss = loss, .dual_clip = dual_clip, .kl_beta = 0.1, .kl_estimator = estimator});
  EXPECT_TRUE(at::isfinite(result.loss).all().item<bool>());
  EXPECT_TRUE(at::isfinite(result.derivative).all().item<bool>());
}

TEST(Kl, EstimatesAsPublished) {
  // x = l_ref - l = ln 2.
  const double x = std::log(2.0);
  const auto kl = [&](KlEstimator estimator) {
    return kl_of_tokens(row({-1}), row({-1 + x}), estimator);
  };
  EXPECT_NEAR(kl(KlEstimator::k1).value.item<double>(), -x, 1e-12);
  EXPECT_NEAR(kl(KlEstimator::k2).value.item<double>(), x * x / 2, 1e-12);
  EXPECT_NEAR(kl(KlEstimator::k2).derivative.item<double>(), -x, 1e-12);
  EXPECT_NEAR(kl(KlEstimator::k3).value.item<double>(), 1 - x, 1e-12);
  EXPECT_NEAR(kl(KlEstimator::k3).derivative.item<double>(), -1, 1e-12);
  const std::vector<float> now = {-1, -2}, reference = {-2, -1};
  EXPECT_NEAR(kl_of_completion(now, reference, KlEstimator::k1), 0, 1e-12);
  EXPECT_NEAR(kl_of_completion(now, reference, KlEstimator::k2), 1, 1e-12);
}

TEST(Kl, AdvantagesOfATeacherGiveTheGradientOfTheReverseKl) {
  // Exactly, over all tokens of a small vocabulary weighted by the policy itself.
  const at::Tensor logits =
      at::tensor({0.3, -1.2, 0.9, 0.1, -0.4}, at::kFloat).set_requires_grad(true);
  const at::Tensor teacher = at::tensor({-0.5, 0.7, 0.2, 1.1, -2.0}, at::kFloat).log_softmax(0);
  const at::Tensor policy = logits.log_softmax(0);
  (policy.exp() * (policy - teacher)).sum().backward({}, true);
  const at::Tensor expected = logits.grad().clone();
  const at::Tensor now = policy.detach().clone();
  const auto row_of = [](const at::Tensor& values) {
    return std::span(values.const_data_ptr<float>(), static_cast<std::size_t>(values.numel()));
  };
  const auto advantages = distillation_advantages(row_of(now), row_of(teacher));
  const at::Tensor advantage = at::tensor(advantages, at::kDouble).to(at::kFloat);
  const auto loss = policy_loss({.logprob = now, .old_logprob = now, .advantage = advantage},
                                {.loss = Loss::grpo});
  logits.mutable_grad().zero_();
  (now.exp() * loss.derivative * policy).sum().backward();
  const at::Tensor found = logits.grad();
  EXPECT_TRUE(at::allclose(found, expected, 1e-5, 1e-7)) << found << expected;
  EXPECT_GT(expected.abs().max().item<double>(), 0.1);
}

TEST(Kl, AdvantagesOfATeacherAreBounded) {
  const std::vector<float> policy = {-1, 0, -900}, teacher = {-2, -900, 0};
  EXPECT_EQ(distillation_advantages(policy, teacher), (std::vector<double>{-1, -20, 20}));
}

TEST(Kl, EstimatesAreRightOnAverage) {
  // Over all tokens of a small distribution, weighted by the policy itself.
  const at::Tensor policy = at::tensor({0.5, 0.3, 0.2}, at::kDouble).log();
  const at::Tensor reference = at::tensor({0.2, 0.2, 0.6}, at::kDouble).log();
  const auto mean = [&](const at::Tensor& values) {
    return (policy.exp() * values).sum().item<double>();
  };
  const double exact = mean(policy - reference);
  for (const KlEstimator estimator : {KlEstimator::k1, KlEstimator::k3})
    EXPECT_NEAR(mean(kl_of_tokens(policy, reference, estimator).value), exact, 1e-12);
}

}  // namespace
}  // namespace tritonsmith::algorithm
