#include "train/policy_gradient.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <numeric>

namespace tritonsmith::train {
namespace {

at::Tensor column_of(const MicroBatch& batch, const TokenColumn& column) {
  if (column.empty()) return {};
  std::vector<float> values;
  for (const std::size_t member : batch.members)
    values.insert(values.end(), column[member].begin(), column[member].end());
  return at::tensor(values, at::kFloat).to(batch.rows.device());
}

// What the members' tokens are multiplied by, for every sequence of the batch (0 elsewhere).
std::vector<double> weights_of(const PolicyBatch& batch, std::span<const std::size_t> members,
                               const PolicyGradientOptions& options) {
  std::vector<std::int64_t> lengths(batch.sequences.size(), 0);
  for (const std::size_t member : members)
    if (batch.counts[member] != 0) lengths[member] = batch.sequences[member].trained();
  return algorithm::token_weights(lengths, options.aggregation, options.horizon);
}

std::vector<std::size_t> members_for_model(const PolicyBatch& batch,
                                           std::span<const std::size_t> members,
                                           const PolicyGradientOptions& options) {
  std::vector<std::size_t> counted, needed;
  for (const std::size_t member : members) {
    if (batch.counts[member] == 0) continue;
    counted.push_back(member);
    if (batch.advantages[member] != 0 || options.policy.kl_beta > 0) needed.push_back(member);
  }
  if (needed.empty() && !counted.empty()) needed.push_back(counted.front());
  return needed;
}

// Sums over the tokens of all micro-batches, on the device until the end.
class Sums {
 public:
  void add(const algorithm::PolicyLoss& loss, const algorithm::PolicyTokens& tokens,
           const at::Tensor& weight, const at::Tensor& entropy) {
    const at::Tensor difference = (tokens.old_logprob - tokens.sampler_logprob).abs();
    const auto sum = [](const at::Tensor& t) { return t.sum(at::kDouble); };
    const at::Tensor part =
        at::stack({sum(loss.loss * weight), sum(-tokens.advantage * tokens.logprob * weight),
                   sum(entropy), loss.kl.defined() ? sum(loss.kl) : sum(at::zeros_like(entropy)),
                   sum(loss.is_clipped), sum(difference)});
    const at::Tensor largest = difference.max();
    sums_ = sums_.defined() ? sums_ + part : part;
    largest_ = largest_.defined() ? at::max(largest_, largest) : largest;
    count_ += tokens.logprob.numel();
  }

  PolicyGradientReport report() const {
    if (count_ == 0) return {};
    const at::Tensor sums = sums_.to(at::kCPU);
    const auto total = [&](int i) { return sums[i].item<double>(); };
    const auto mean = [&](int i) { return total(i) / static_cast<double>(count_); };
    return {.loss = total(0),
            .surrogate = total(1),
            .entropy = mean(2),
            .kl = mean(3),
            .clip_fraction = mean(4),
            .difference_mean = mean(5),
            .difference_max = largest_.item<double>()};
  }

 private:
  at::Tensor sums_, largest_;
  std::int64_t count_ = 0;
};

}  // namespace

PolicyGradientReport set_policy_gradient(Learner& learner, const PolicyBatch& batch,
                                         std::span<const std::size_t> members,
                                         const PolicyGradientOptions& options) {
  const std::vector<double> weights = weights_of(batch, members, options);
  const auto used = members_for_model(batch, members, options);
  Sums sums;
  learner.zero_gradients();
  learner.add_gradient(
      make_micro_batches(batch.sequences, used, options.budget, learner.model().device()),
      options.temperature, [&](const MicroBatch& micro, const model::LogprobAndEntropy& now) {
        const at::Tensor weight = spread_over_tokens(micro, batch.sequences, weights);  // [N]
        const at::Tensor old = column_of(micro, batch.old);
        const algorithm::PolicyTokens tokens{
            .logprob = now.logprob,
            .old_logprob = old.defined() ? old : now.logprob,
            .sampler_logprob = column_of(micro, batch.sampler),
            .reference_logprob = column_of(micro, batch.reference),
            .advantage = spread_over_tokens(micro, batch.sequences, batch.advantages)};
        const auto loss = algorithm::policy_loss(tokens, options.policy);
        sums.add(loss, tokens, weight, now.entropy);
        return loss.derivative * weight;
      });
  PolicyGradientReport report = sums.report();
  for (const std::size_t member : used)
    report.tokens += static_cast<std::int64_t>(batch.sequences[member].tokens.size());
  return report;
}

TokenColumn token_logprobs(const model::Transformer& model,
                           std::span<const TrainingSequence> sequences, double temperature,
                           std::int64_t budget) {
  const at::NoGradGuard no_grad;
  TokenColumn column(sequences.size());
  std::vector<std::size_t> all(sequences.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  for (const MicroBatch& batch : make_micro_batches(sequences, all, budget, model.device())) {
    const at::Tensor values =
        forward_tokens(model, batch, temperature).logprob.to(at::kCPU, at::kFloat).contiguous();
    const float* next = values.const_data_ptr<float>();
    for (const std::size_t member : batch.members) {
      const auto count = sequences[member].trained();
      column[member].assign(next, next + count);
      next += count;
    }
  }
  return column;
}

}  // namespace tritonsmith::train
