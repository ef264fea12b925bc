// Test fixture: compares our losses with published definitions. It holds completions in padded
// batches, as public trainers do, and differentiates a loss with autograd. The result is compared
// with our derivatives on the tokens that count.
#pragma once

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <vector>

#include "algorithm/policy_loss.h"

namespace tritonsmith::algorithm::testing {

inline constexpr std::int64_t kRows = 6, kColumns = 9, kHorizon = 12;
inline constexpr double kLow = 0.15, kHigh = 0.25, kDualClip = 2.0, kBeta = 0.3;

// Completions as rows, padded on the right.
struct Padded {
  std::vector<std::int64_t> lengths;
  at::Tensor mask;                                  // double [B, T]
  at::Tensor logprob;                               // [B, T], with a gradient
  at::Tensor old_logprob, reference;                // [B, T]
  at::Tensor advantage;                             // [B, 1]
  at::Tensor mismatch_weight;                       // [B, T]
  at::Tensor rows() const { return mask.sum(-1); }  // [B], tokens that count
};

inline Padded padded(const std::vector<std::int64_t>& lengths) {
  at::manual_seed(11);
  const auto noise = [] { return at::randn({kRows, kColumns}, at::kDouble) * 0.4 - 1; };
  Padded batch{
      .lengths = lengths,
      .mask =
          (at::arange(kColumns).unsqueeze(0) < at::tensor(lengths).unsqueeze(1)).to(at::kDouble),
      .logprob = noise(),
      .old_logprob = noise(),
      .reference = noise(),
      .advantage = at::randn({kRows, 1}, at::kDouble),
      .mismatch_weight = at::rand({kRows, kColumns}, at::kDouble)};
  batch.logprob.requires_grad_();
  return batch;
}

struct LossAndGradient {
  at::Tensor loss, gradient;  // scalar, [B, T]
};

inline LossAndGradient of_autograd(const Padded& batch, const at::Tensor& loss) {
  loss.backward();
  return {.loss = loss.detach(), .gradient = batch.logprob.grad()};
}

inline LossAndGradient ours(const Padded& batch, const PolicyOptions& options,
                            Aggregation aggregation) {
  const at::Tensor at_token = batch.mask.flatten().nonzero().squeeze(1);  // [N]
  const auto flat = [&](const at::Tensor& values) {
    return values.detach().expand({kRows, kColumns}).flatten().index_select(0, at_token);
  };
  const at::Tensor row = at::arange(kRows, at::kLong).unsqueeze(1).expand({kRows, kColumns});
  const PolicyLoss result = policy_loss({.logprob = flat(batch.logprob),
                                         .old_logprob = flat(batch.old_logprob),
                                         .reference_logprob = flat(batch.reference),
                                         .advantage = flat(batch.advantage),
                                         .mismatch_weight = flat(batch.mismatch_weight),
                                         .sequence = flat(row)},
                                        options);
  const std::int64_t tokens = at_token.numel();
  const at::Tensor weight = at::tensor(
      token_weights(batch.lengths, aggregation, {.horizon = kHorizon, .step_tokens = tokens}),
      at::kDouble);
  const at::Tensor of_token = weight.index_select(0, flat(row));
  const at::Tensor gradient = at::zeros({kRows * kColumns}, at::kDouble)
                                  .index_add(0, at_token, result.derivative * of_token);
  return {.loss = (result.loss * of_token).sum(), .gradient = gradient.view({kRows, kColumns})};
}

inline void expect_equal(const LossAndGradient& mine, const LossAndGradient& theirs,
                         double tolerance) {
  EXPECT_TRUE(at::allclose(mine.loss, theirs.loss, tolerance, 1e-12))
      << mine.loss.item<double>() << " and " << theirs.loss.item<double>();
  EXPECT_TRUE(at::allclose(mine.gradient, theirs.gradient, tolerance, 1e-12))
      << (mine.gradient - theirs.gradient).abs().max().item<double>();
}

}  // namespace tritonsmith::algorithm::testing
