#include "train/gradient/policy_gradient.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <numeric>

#include "distributed/shares.h"
#include "train/gradient/gradient_columns.h"

namespace tritonsmith::train {
namespace {

// Returns this rank's share of the sequences. If groups share their prompts and there are enough
// groups, a rank gets whole groups.
std::vector<std::size_t> own_share(std::span<const TrainingSequence> sequences,
                                   std::span<const std::size_t> members,
                                   const PackingOptions& packing, const distributed::Ranks& ranks) {
  if (packing.shares_prompts && !ranks.is_alone()) {
    const PromptRuns runs = runs_of_one_prompt(sequences, members);
    std::vector<std::size_t> numbers(runs.members.size()), own;
    std::iota(numbers.begin(), numbers.end(), std::size_t{0});
    if (std::ssize(numbers) >= ranks.size()) {
      for (const auto run : distributed::share_of(numbers, runs.tokens, ranks.rank(), ranks.size()))
        own.insert(own.end(), runs.members[run].begin(), runs.members[run].end());
      return own;
    }
  }
  std::vector<std::int64_t> costs;
  for (const std::size_t member : members) costs.push_back(std::ssize(sequences[member].tokens));
  return distributed::share_of(members, costs, ranks.rank(), ranks.size());
}

TokenColumn by_segment(const TokenColumn& of_sequences, const PolicyBatch& batch) {
  TokenColumn column(batch.segments());
  for (std::size_t sequence = 0; sequence < of_sequences.size(); ++sequence) {
    auto next = of_sequences[sequence].begin();
    const Span segments = batch.segments_of(sequence);
    for (std::size_t g = segments.begin; g < segments.end; ++g) {
      const auto end = next + std::ssize(batch.sampler[g]);
      column[g].assign(next, end);
      next = end;
    }
  }
  return column;
}

}  // namespace

Span PolicyBatch::segments_of(std::size_t sequence) const {
  const auto own = std::ranges::equal_range(sequence_of, sequence);
  return {.begin = static_cast<std::size_t>(own.begin() - sequence_of.begin()),
          .end = static_cast<std::size_t>(own.end() - sequence_of.begin())};
}

void add_policy_gradient(Learner& learner, const PolicyBatch& batch, const WeighedMembers& weighed,
                         const PolicyGradientOptions& options, GradientSums& sums) {
  const bool by_token = options.policy.loss != algorithm::Loss::gspo;
  Columns columns;  // those of the requested micro-batch
  const auto micro_batches = make_micro_batches(batch.sequences, weighed.members, options.packing,
                                                learner.model().device());
  for (const MicroBatch& each : micro_batches) sums.add_passed(each);
  learner.add_gradient(
      micro_batches, options.temperature, by_token ? Dependence::token : Dependence::micro_batch,
      [&](const TokensNow& now) {
        if (now.begin == 0) {
          if (options.pause) options.pause();
          columns = Columns::of(now.batch, batch, weighed.weights, options);
        }
        const Columns own = columns.part(now.begin, now.count());
        const algorithm::PolicyTokens tokens{
            .logprob = now.logprob,
            .old_logprob = own.old.defined() ? own.old : now.logprob,
            .reference_logprob = own.reference,
            .advantage = own.advantage,
            .mismatch_weight = own.mismatch,
            .sequence = own.sequence};
        const auto loss = algorithm::policy_loss(tokens, options.policy);
        // The trainer's log-probabilities of the tokens must not be the sampler's.
        const at::Tensor& without = options.ratio_is_to_sampler ? now.logprob : tokens.old_logprob;
        sums.add(loss, tokens,
                 {.weight = own.weight,
                  .entropy = now.entropy,
                  .sampler = own.sampler,
                  .trainer = own.trainer.defined() ? own.trainer : without});
        TokenGradient gradient{.logprob = loss.derivative * own.weight, .entropy = {}};
        if (options.entropy_beta > 0) gradient.entropy = -options.entropy_beta * own.weight;
        return gradient;
      });
}

PolicyGradientReport set_policy_gradient(Learner& learner, const PolicyBatch& batch,
                                         std::span<const std::size_t> members,
                                         const PolicyGradientOptions& options) {
  const std::vector<double> weights = weights_of(batch, members, options);
  const auto used = own_share(batch.sequences, members_for_model(batch, members, options),
                              options.packing, learner.ranks());
  GradientSums sums;
  learner.zero_gradients();
  add_policy_gradient(learner, batch, {.members = used, .weights = weights}, options, sums);
  return sums.report();
}

TokenColumn token_logprobs(const model::Transformer& model,
                           std::span<const TrainingSequence> sequences, double temperature,
                           const PackingOptions& packing, const std::function<void()>& pause) {
  const at::NoGradGuard no_grad;
  TokenColumn column(sequences.size());
  std::vector<std::size_t> all(sequences.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  for (const MicroBatch& batch : make_micro_batches(sequences, all, packing, model.device())) {
    const at::Tensor values =
        forward_tokens(model, batch, temperature).logprob.to(at::kCPU, at::kFloat).contiguous();
    const float* next = values.const_data_ptr<float>();
    for (const std::size_t member : batch.members) {
      const auto count = sequences[member].trained();
      column[member].assign(next, next + count);
      next += count;
    }
    if (pause) pause();
  }
  return column;
}

TokenColumn segment_logprobs(const model::Transformer& model, const PolicyBatch& batch,
                             double temperature, const PackingOptions& packing,
                             const std::function<void()>& pause) {
  return by_segment(token_logprobs(model, batch.sequences, temperature, packing, pause), batch);
}

Result<TokenColumn> segment_logprobs_over_ranks(const model::Transformer& model,
                                                const SegmentPasses& passes,
                                                distributed::Ranks& ranks) {
  const auto& sequences = passes.batch.sequences;
  if (ranks.is_alone())
    return segment_logprobs(model, passes.batch, passes.temperature, passes.packing, passes.pause);
  std::vector<std::size_t> all(sequences.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  const auto share = own_share(sequences, all, passes.packing, ranks);
  std::vector<TrainingSequence> own;
  for (const std::size_t member : share) own.push_back(sequences[member]);
  const TokenColumn values =
      token_logprobs(model, own, passes.temperature, passes.packing, passes.pause);
  // Each token has its own element, which is zero on all ranks but one. The sum is therefore exact.
  std::vector<std::int64_t> begins = {0};
  for (const TrainingSequence& sequence : sequences)
    begins.push_back(begins.back() + sequence.trained());
  const at::Tensor flat = at::zeros({begins.back()}, at::kFloat);
  float* first = flat.mutable_data_ptr<float>();
  for (std::size_t i = 0; i < share.size(); ++i)
    std::ranges::copy(values[i], first + begins[share[i]]);
  TRY(ranks.sum(flat, "log-probabilities"));
  TokenColumn whole(sequences.size());
  for (std::size_t i = 0; i < sequences.size(); ++i)
    whole[i].assign(first + begins[i], first + begins[i + 1]);
  return by_segment(whole, passes.batch);
}

Status sum_over_ranks(PolicyGradientReport& report, distributed::Ranks& ranks) {
  if (ranks.is_alone()) return ok();
  const auto count = static_cast<double>(report.measured);
  const at::Tensor sums =
      at::tensor({report.loss, report.surrogate, report.entropy * count, report.kl * count,
                  report.clip_fraction * count, report.difference_mean * count, count,
                  static_cast<double>(report.tokens), static_cast<double>(report.shared_tokens)},
                 at::kDouble);
  const at::Tensor largest = at::full({1}, report.difference_max, at::kDouble);
  TRY(ranks.sum(sums, "the sum of the loss"));
  TRY(ranks.largest(largest, "the largest difference"));
  const at::Tensor counts = report.differences.counts().to(at::kCPU).clone();
  TRY(ranks.sum(counts, "the histogram of differences"));
  const auto total = [&](int i) { return sums[i].item<double>(); };
  const auto mean = [&](int i) { return total(6) > 0 ? total(i) / total(6) : 0; };
  report = {.loss = total(0),
            .surrogate = total(1),
            .entropy = mean(2),
            .kl = mean(3),
            .clip_fraction = mean(4),
            .difference_mean = mean(5),
            .difference_max = largest.item<double>(),
            .differences = DifferenceHistogram(counts),
            .tokens = static_cast<std::int64_t>(total(7)),
            .shared_tokens = static_cast<std::int64_t>(total(8)),
            .measured = static_cast<std::int64_t>(total(6))};
  return ok();
}

}  // namespace tritonsmith::train
