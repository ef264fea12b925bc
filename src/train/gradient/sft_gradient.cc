#include "train/gradient/sft_gradient.h"

#include <ATen/ATen.h>

#include "distributed/shares.h"

namespace tritonsmith::train {

SftGradientReport set_sft_gradient(Learner& learner, std::span<const TrainingSequence> sequences,
                                   std::span<const std::size_t> members,
                                   const PackingOptions& packing) {
  SftGradientReport report;
  std::vector<std::int64_t> costs;
  for (const std::size_t member : members) {
    report.trained_tokens += sequences[member].trained();
    costs.push_back(std::ssize(sequences[member].tokens));
  }
  const auto share =
      distributed::share_of(members, costs, learner.ranks().rank(), learner.ranks().size());
  const double weight = 1.0 / static_cast<double>(report.trained_tokens);
  at::Tensor sums;  // [2], stays on the device until the end; reading it would drain the queue
  learner.zero_gradients();
  const auto batches = make_micro_batches(sequences, share, packing, learner.model().device());
  for (const MicroBatch& batch : batches) {
    report.tokens += batch.packed.length() + batch.packed.sequences();
    report.shared_tokens += batch.shared;
  }
  learner.add_gradient(batches, 1.0, Dependence::token, [&](const TokensNow& now) {
    const at::Tensor part = at::stack({now.logprob.sum(at::kDouble), now.entropy.sum(at::kDouble)});
    sums = sums.defined() ? sums + part : part;
    return TokenGradient{.logprob = at::full_like(now.logprob, -weight), .entropy = {}};
  });
  if (!sums.defined()) return report;  // this rank has no sequence
  sums = sums.to(at::kCPU) * weight;
  report.loss = -sums[0].item<double>();
  report.entropy = sums[1].item<double>();
  return report;
}

Status sum_over_ranks(SftGradientReport& report, distributed::Ranks& ranks) {
  if (ranks.is_alone()) return ok();
  const at::Tensor sums =
      at::tensor({report.loss, report.entropy, static_cast<double>(report.tokens),
                  static_cast<double>(report.shared_tokens)},
                 at::kDouble);
  TRY(ranks.sum(sums, "the sum of the loss"));
  report.loss = sums[0].item<double>();
  report.entropy = sums[1].item<double>();
  report.tokens = static_cast<std::int64_t>(sums[2].item<double>());
  report.shared_tokens = static_cast<std::int64_t>(sums[3].item<double>());
  return ok();
}

}  // namespace tritonsmith::train
