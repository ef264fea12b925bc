// Our weights of the mismatch between sampler and trainer equal those of TRL 1.16,
// trl/trainer/grpo_trainer.py, vllm_importance_sampling_mode.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "algorithm/mismatch.h"

namespace tritonsmith::algorithm {
namespace {

constexpr double kCap = 1.6, kFloor = 0.5;

std::vector<float> as_floats(const at::Tensor& row) {
  const at::Tensor flat = row.to(at::kFloat).contiguous();
  return {flat.const_data_ptr<float>(), flat.const_data_ptr<float>() + flat.numel()};
}

at::Tensor trl_weights(const at::Tensor& difference, MismatchRule rule) {
  const bool by_sequence =
      rule == MismatchRule::sequence_truncate || rule == MismatchRule::sequence_mask;
  const bool truncates =
      rule == MismatchRule::sequence_truncate || rule == MismatchRule::token_truncate;
  const at::Tensor ratio = (by_sequence ? difference.sum(-1, true) : difference).exp();
  const at::Tensor weights =
      truncates ? ratio.clamp_max(kCap)
                : ratio.masked_fill((ratio < kFloor).logical_or(ratio > kCap), 0.0);
  return weights.expand_as(difference);
}

TEST(PublishedMismatch, WeightsAreTrls) {
  at::manual_seed(3);
  const at::Tensor trainer = at::randn({20, 6}, at::kDouble) * 0.3 - 1;
  const at::Tensor sampler = at::randn({20, 6}, at::kDouble) * 0.3 - 1;
  for (const MismatchRule rule : {MismatchRule::token_truncate, MismatchRule::token_mask,
                                  MismatchRule::sequence_truncate, MismatchRule::sequence_mask}) {
    const at::Tensor theirs = trl_weights(trainer - sampler, rule);  // [20, 6]
    for (std::int64_t row = 0; row < trainer.size(0); ++row) {
      const std::vector<float> ours =
          mismatch_weights(as_floats(trainer[row]), as_floats(sampler[row]),
                           {.rule = rule, .cap = kCap, .floor = kFloor});
      EXPECT_TRUE(at::allclose(at::tensor(ours, at::kDouble), theirs[row], 1e-4, 1e-6))
          << name_of(rule) << ", completion " << row;
    }
  }
}

}  // namespace
}  // namespace tritonsmith::algorithm
