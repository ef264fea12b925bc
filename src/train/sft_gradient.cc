#include "train/sft_gradient.h"

#include <ATen/ATen.h>

namespace tritonsmith::train {

SftGradientReport set_sft_gradient(Learner& learner, std::span<const TrainingSequence> sequences,
                                   std::span<const std::size_t> members, std::int64_t budget) {
  SftGradientReport report;
  for (const std::size_t member : members) {
    report.trained_tokens += sequences[member].trained();
    report.tokens += static_cast<std::int64_t>(sequences[member].tokens.size());
  }
  const double weight = 1.0 / static_cast<double>(report.trained_tokens);
  at::Tensor sums;  // [2], on the device until the end: reading it would stop the queue of work
  learner.zero_gradients();
  learner.add_gradient(
      make_micro_batches(sequences, members, budget, learner.model().device()), 1.0,
      [&](const MicroBatch&, const model::LogprobAndEntropy& now) {
        const at::Tensor part =
            at::stack({now.logprob.sum(at::kDouble), now.entropy.sum(at::kDouble)});
        sums = sums.defined() ? sums + part : part;
        return TokenGradient{.logprob = at::full_like(now.logprob, -weight), .entropy = {}};
      });
  sums = sums.to(at::kCPU) * weight;
  report.loss = -sums[0].item<double>();
  report.entropy = sums[1].item<double>();
  return report;
}

}  // namespace tritonsmith::train
