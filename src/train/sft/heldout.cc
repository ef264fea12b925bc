#include "train/sft/heldout.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <cmath>
#include <numeric>
#include <unordered_map>

#include "base/check.h"
#include "distributed/shares.h"

namespace tritonsmith::train {

double unigram_entropy(std::span<const TrainingSequence> sequences) {
  std::unordered_map<TokenId, double> counts;
  double total = 0;
  for (const TrainingSequence& sequence : sequences)
    sequence.for_each_trained([&](std::size_t t) {
      counts[sequence.tokens[t]] += 1;
      total += 1;
    });
  double entropy = 0;
  for (const auto& [token, count] : counts) entropy -= count / total * std::log(count / total);
  return entropy;
}

Result<double> heldout_loss(const model::Transformer& model,
                            std::span<const TrainingSequence> sequences,
                            const PackingOptions& packing, distributed::Ranks& ranks) {
  const at::NoGradGuard no_grad;
  std::vector<std::int64_t> costs;
  double trained = 0;
  for (const TrainingSequence& sequence : sequences) {
    costs.push_back(std::ssize(sequence.tokens));
    trained += static_cast<double>(sequence.trained());
  }
  CHECK(trained > 0, "there is nothing held out");
  std::vector<std::size_t> all(sequences.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  const auto share = distributed::share_of(all, costs, ranks.rank(), ranks.size());
  const at::Tensor sum = at::zeros({1}, at::kDouble);
  for (const MicroBatch& batch : make_micro_batches(sequences, share, packing, model.device()))
    sum.add_(forward_tokens(model, batch, 1.0).logprob.sum(at::kDouble).to(at::kCPU));
  if (!ranks.is_alone()) TRY(ranks.sum(sum, "the loss on what is held out"));
  return -sum.item<double>() / trained;
}

}  // namespace tritonsmith::train
