// Our losses equal those of verl 0.10, verl/trainer/ppo/core_algos.py: the policy losses `vanilla`,
// `gspo` and `cispo`, agg_loss and kl_penalty.
#include "algorithm/testing/padded.h"

namespace tritonsmith::algorithm {
namespace {

using testing::kDualClip, testing::kHigh, testing::kHorizon, testing::kLow,
    testing::LossAndGradient, testing::Padded, testing::padded;

constexpr double kLengthTolerance = 1e-7;  // verl adds 1e-8 to lengths

// Three ways to sum. Those by sequence leave out sequences that are masked as a whole.
at::Tensor verl_clipped(const Padded& batch, const at::Tensor& ratio, double dual_clip) {
  const at::Tensor loss =
      at::max(-batch.advantage * ratio, -batch.advantage * ratio.clamp(1 - kLow, 1 + kHigh));
  return dual_clip > 0
             ? at::where(batch.advantage < 0, at::min(-batch.advantage * dual_clip, loss), loss)
             : loss;
}

at::Tensor verl_vanilla(const Padded& batch) {
  const at::Tensor log_ratio = (batch.logprob - batch.old_logprob).clamp(-20, 20);
  return verl_clipped(batch, log_ratio.exp(), kDualClip);
}

at::Tensor verl_gspo(const Padded& batch) {
  const at::Tensor log_ratio = batch.logprob - batch.old_logprob;
  const at::Tensor of_sequence = (log_ratio * batch.mask).sum(-1) / batch.rows().clamp_min(1);
  const at::Tensor through_token =
      batch.logprob - batch.logprob.detach() + of_sequence.detach().unsqueeze(-1);
  return verl_clipped(batch, through_token.clamp_max(10).exp(), 0);
}

at::Tensor verl_cispo(const Padded& batch) {
  const at::Tensor ratio = (batch.logprob - batch.old_logprob).clamp(-20, 20).exp();
  return -ratio.clamp(1 - kLow, 1 + kHigh).detach() * batch.advantage * batch.logprob;
}

at::Tensor verl_sum(const Padded& batch, const at::Tensor& token_loss, Aggregation aggregation) {
  const at::Tensor sums = (token_loss * batch.mask).sum(-1);  // [B]
  const at::Tensor sequences = (batch.rows() > 0).sum();
  if (aggregation == Aggregation::token_mean) return sums.sum() / batch.mask.sum();
  if (aggregation == Aggregation::fixed_length) return sums.sum() / sequences / kHorizon;
  return (sums / (batch.rows() + 1e-8)).sum() / sequences;  // seq-mean-token-mean
}

class LossOfVerl : public ::testing::TestWithParam<Aggregation> {};
INSTANTIATE_TEST_SUITE_P(Published, LossOfVerl,
                         ::testing::Values(Aggregation::token_mean, Aggregation::sequence_mean,
                                           Aggregation::fixed_length));

TEST_P(LossOfVerl, IsOurs) {
  const auto compare = [](at::Tensor (*token_loss)(const Padded&), const PolicyOptions& options) {
    Padded batch = padded({3, 7, 0, 5, 9, 2});
    batch.mismatch_weight = at::ones_like(batch.mask);
    const LossAndGradient theirs =
        of_autograd(batch, verl_sum(batch, token_loss(batch), GetParam()));
    expect_equal(ours(batch, options, GetParam()), theirs, kLengthTolerance);
  };
  compare(verl_vanilla, {.clip_low = kLow, .clip_high = kHigh, .dual_clip = kDualClip});
  compare(verl_cispo, {.loss = Loss::cispo, .clip_low = kLow, .clip_high = kHigh});
}

TEST(Published, GspoOfVerlHasOurGradient) {
  // An empty completion would have no ratio.
  Padded batch = padded({3, 7, 1, 5, 9, 2});
  batch.mismatch_weight = at::ones_like(batch.mask);
  const LossAndGradient theirs =
      of_autograd(batch, verl_sum(batch, verl_gspo(batch), Aggregation::sequence_mean));
  const LossAndGradient mine =
      ours(batch, {.loss = Loss::gspo, .clip_low = kLow, .clip_high = kHigh},
           Aggregation::sequence_mean);
  expect_equal(mine, theirs, kLengthTolerance);
}

TEST(Published, KlPenaltiesOfVerlAreOurs) {
  const Padded batch = padded({9, 9, 9, 9, 9, 9});
  const at::Tensor difference = batch.logprob - batch.reference;
  const auto value = [&](KlEstimator estimator) {
    return kl_of_tokens(batch.logprob, batch.reference, estimator).value;
  };
  EXPECT_TRUE(at::allclose(value(KlEstimator::k1), difference)) << "kl";
  EXPECT_TRUE(at::allclose(value(KlEstimator::k2), 0.5 * difference.square())) << "mse";
  const at::Tensor low_variance = ((-difference).clamp(-20, 20).exp() + difference - 1);
  EXPECT_TRUE(at::allclose(value(KlEstimator::k3), low_variance.clamp(-10, 10))) << "low_var_kl";
}

}  // namespace
}  // namespace tritonsmith::algorithm
