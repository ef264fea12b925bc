#include "train/sft_gradient.h"

#include <ATen/ATen.h>

#include "distributed/shares.h"

namespace tritonsmith::train {

SftGradientReport set_sft_gradient(Learner& learner, std::span<const TrainingSequence> sequences,
                                   std::span<const std::size_t> members, std::int64_t budget) {
  SftGradientReport report;
  std::vector<std::int64_t> costs;
  for (const std::size_t member : members) {
    report.trained_tokens += sequences[member].trained();
    report.tokens += costs.emplace_back(std::ssize(sequences[member].tokens));
  }
  const auto share =
      distributed::share_of(members, costs, learner.ranks().rank(), learner.ranks().size());
  const double weight = 1.0 / static_cast<double>(report.trained_tokens);
  at::Tensor sums;  // [2], on the device until the end: reading it would stop the queue of work
  learner.zero_gradients();
  learner.add_gradient(
      make_micro_batches(sequences, share, budget, learner.model().device()), 1.0,
      Dependence::token, [&](const TokensNow& now) {
        const at::Tensor part =
            at::stack({now.logprob.sum(at::kDouble), now.entropy.sum(at::kDouble)});
        sums = sums.defined() ? sums + part : part;
        return TokenGradient{.logprob = at::full_like(now.logprob, -weight), .entropy = {}};
      });
  if (!sums.defined()) return report;  // more ranks than sequences
  sums = sums.to(at::kCPU) * weight;
  report.loss = -sums[0].item<double>();
  report.entropy = sums[1].item<double>();
  return report;
}

Status sum_over_ranks(SftGradientReport& report, distributed::Ranks& ranks) {
  if (ranks.is_alone()) return ok();
  const at::Tensor sums = at::tensor({report.loss, report.entropy}, at::kDouble);
  TRY(ranks.sum(sums, "the sum of the loss"));
  report.loss = sums[0].item<double>();
  report.entropy = sums[1].item<double>();
  return ok();
}

}  // namespace tritonsmith::train
