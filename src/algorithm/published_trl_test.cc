// Our losses equal those of TRL 1.16, trl/trainer/grpo_trainer.py, GRPOTrainer._compute_loss.
#include "algorithm/testing/padded.h"

namespace tritonsmith::algorithm {
namespace {

using testing::kBeta, testing::kDualClip, testing::kHigh, testing::kHorizon, testing::kLow,
    testing::kRows, testing::LossAndGradient, testing::Padded, testing::padded;

// `delta` bounds the unclipped ratio. In cispo `epsilon_high` is the bound itself. beta is the
// weight of k3. The sampler's correction multiplies every term but the KL.
at::Tensor trl_token_loss(const Padded& batch, Loss loss) {
  at::Tensor log_ratio = batch.logprob - batch.old_logprob;
  if (loss == Loss::gspo)
    log_ratio = ((log_ratio * batch.mask).sum(-1) / batch.rows().clamp_min(1)).unsqueeze(-1);
  const at::Tensor ratio = log_ratio.exp();
  at::Tensor result;
  if (loss == Loss::cispo) {
    result = -ratio.clamp_max(1 + kHigh).detach() * batch.advantage * batch.logprob;
  } else {
    const at::Tensor clipped_gain = ratio.clamp(1 - kLow, 1 + kHigh) * batch.advantage;
    result = -at::min(ratio.clamp_max(kDualClip) * batch.advantage, clipped_gain);
  }
  // A sequence has one ratio, so weights of single tokens do not apply to it.
  if (loss != Loss::gspo) result = result * batch.mismatch_weight;
  const at::Tensor kl_x = batch.reference - batch.logprob;
  return result + kBeta * (kl_x.exp() - kl_x - 1);
}

at::Tensor trl_loss(const Padded& batch, Loss loss) {
  const at::Tensor sums = (trl_token_loss(batch, loss) * batch.mask).sum(-1);  // [B]
  switch (loss) {
    case Loss::grpo:
    case Loss::gspo:
      return (sums / batch.rows().clamp_min(1)).mean();
    case Loss::dr_grpo:
      return sums.sum() / (kRows * kHorizon);
    case Loss::bnpo:
    case Loss::dapo:  // one update in a step and one process: all tokens of the generation batch
    case Loss::cispo:
      break;
  }
  return sums.sum() / batch.mask.sum().clamp_min(1);
}

class LossOfTrl : public ::testing::TestWithParam<Loss> {};
INSTANTIATE_TEST_SUITE_P(Published, LossOfTrl,
                         ::testing::Values(Loss::grpo, Loss::dr_grpo, Loss::dapo, Loss::bnpo,
                                           Loss::gspo, Loss::cispo));

TEST_P(LossOfTrl, IsOurs) {
  Padded batch = padded({3, 7, 1, 5, 9, 2});
  const LossAndGradient theirs = of_autograd(batch, trl_loss(batch, GetParam()));
  if (GetParam() == Loss::gspo) batch.mismatch_weight = at::ones_like(batch.mask);
  PolicyOptions options{.loss = GetParam(),
                        .clip_low = kLow,
                        .clip_high = kHigh,
                        .dual_clip = kDualClip,
                        .kl_beta = kBeta};
  if (GetParam() == Loss::cispo) options.clip_low = 1;  // TRL's has no lower bound
  expect_equal(ours(batch, options, aggregation_of(GetParam())), theirs, 1e-9);
}

}  // namespace
}  // namespace tritonsmith::algorithm
