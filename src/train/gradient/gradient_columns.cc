#include "train/gradient/gradient_columns.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <map>

namespace tritonsmith::train {
namespace {

at::Tensor column_of(const MicroBatch& batch, const PolicyBatch& policy,
                     const TokenColumn& column) {
  if (column.empty()) return {};
  std::vector<float> values;
  for (const std::size_t member : batch.members) {
    const Span segments = policy.segments_of(member);
    for (std::size_t g = segments.begin; g < segments.end; ++g)
      values.insert(values.end(), column[g].begin(), column[g].end());
  }
  return at::tensor(values, at::kFloat).to(batch.rows.device());
}

// Repeats each segment's value for each of its tokens, [N].
template <typename Value>
at::Tensor spread(const MicroBatch& batch, const PolicyBatch& policy, c10::ScalarType type,
                  Value value) {
  std::vector<decltype(value(std::size_t{0}))> values;
  for (const std::size_t member : batch.members) {
    const Span segments = policy.segments_of(member);
    for (std::size_t g = segments.begin; g < segments.end; ++g)
      values.insert(values.end(), policy.sampler[g].size(), value(g));
  }
  return at::tensor(values, at::TensorOptions().dtype(type)).to(batch.rows.device());
}

// Returns each token's segment in the micro-batch, [N].
at::Tensor segment_numbers(const MicroBatch& batch, const PolicyBatch& policy) {
  std::map<std::size_t, std::int64_t> numbers;
  return spread(batch, policy, at::kLong, [&](std::size_t g) {
    return numbers.try_emplace(g, static_cast<std::int64_t>(numbers.size())).first->second;
  });
}

}  // namespace

std::int64_t counted_length(const PolicyBatch& batch, std::size_t segment) {
  return batch.counts[segment] != 0 ? std::ssize(batch.sampler[segment]) : 0;
}

std::vector<double> weights_of(const PolicyBatch& batch, std::span<const std::size_t> members,
                               const PolicyGradientOptions& options) {
  algorithm::AggregationScope scope{.horizon = options.horizon, .updates = options.updates};
  for (std::size_t g = 0; g < batch.segments(); ++g) scope.step_tokens += counted_length(batch, g);
  std::vector<std::size_t> segments;
  std::vector<std::int64_t> lengths;
  for (const std::size_t member : members) {
    const Span own = batch.segments_of(member);
    for (std::size_t g = own.begin; g < own.end; ++g) {
      segments.push_back(g);
      lengths.push_back(counted_length(batch, g));
    }
  }
  const auto weights = algorithm::token_weights(lengths, options.aggregation, scope);
  std::vector<double> of_segment(batch.segments(), 0.0);
  for (std::size_t i = 0; i < segments.size(); ++i) of_segment[segments[i]] = weights[i];
  return of_segment;
}

std::vector<std::size_t> needed_members(const PolicyBatch& batch,
                                        std::span<const std::size_t> members,
                                        const PolicyGradientOptions& options) {
  const bool needs_all = options.policy.kl_beta > 0 || options.entropy_beta > 0;
  std::vector<std::size_t> needed;
  for (const std::size_t member : members) {
    const Span segments = batch.segments_of(member);
    bool is_needed = false;
    for (std::size_t g = segments.begin; g < segments.end; ++g)
      is_needed |=
          counted_length(batch, g) > 0 &&
          (needs_all || std::ranges::any_of(batch.advantages[g], [](float a) { return a != 0; }));
    if (is_needed) needed.push_back(member);
  }
  return needed;
}

std::vector<std::size_t> members_for_model(const PolicyBatch& batch,
                                           std::span<const std::size_t> members,
                                           const PolicyGradientOptions& options) {
  std::vector<std::size_t> needed = needed_members(batch, members, options);
  if (!needed.empty()) return needed;
  for (const std::size_t member : members) {
    const Span segments = batch.segments_of(member);
    for (std::size_t g = segments.begin; g < segments.end; ++g)
      if (counted_length(batch, g) > 0) return {member};
  }
  return {};
}

Columns Columns::of(const MicroBatch& micro, const PolicyBatch& batch,
                    std::span<const double> weights, const PolicyGradientOptions& options) {
  const auto column = [&](const TokenColumn& values) { return column_of(micro, batch, values); };
  const bool by_sequence = options.policy.loss == algorithm::Loss::gspo;
  return {.weight = spread(micro, batch, at::kFloat,
                           [&](std::size_t g) { return static_cast<float>(weights[g]); }),
          .sampler = column(batch.sampler),
          .advantage = column(batch.advantages),
          .old = column(batch.old),
          .trainer = column(batch.trainer),
          .reference = column(batch.reference),
          .mismatch = column(batch.mismatch),
          .sequence = by_sequence ? segment_numbers(micro, batch) : at::Tensor()};
}

Columns Columns::part(std::int64_t begin, std::int64_t count) const {
  const auto rows = [&](const at::Tensor& column) {
    return column.defined() ? column.narrow(0, begin, count) : column;
  };
  return {rows(weight),  rows(sampler),   rows(advantage), rows(old),
          rows(trainer), rows(reference), rows(mismatch),  rows(sequence)};
}

void GradientSums::add(const algorithm::PolicyLoss& loss, const algorithm::PolicyTokens& tokens,
                       const Measured& measured) {
  const at::Tensor &weight = measured.weight, &entropy = measured.entropy;
  const at::Tensor difference = (measured.trainer - measured.sampler).abs();
  const auto sum = [](const at::Tensor& t) { return t.sum(at::kDouble); };
  const at::Tensor part =
      at::stack({sum(loss.loss * weight), sum(-tokens.advantage * tokens.logprob * weight),
                 sum(entropy), loss.kl.defined() ? sum(loss.kl) : sum(at::zeros_like(entropy)),
                 sum(loss.is_clipped), sum(difference)});
  const at::Tensor largest = difference.max();
  differences_.add(difference);
  sums_ = sums_.defined() ? sums_ + part : part;
  largest_ = largest_.defined() ? at::max(largest_, largest) : largest;
  count_ += tokens.logprob.numel();
}

PolicyGradientReport GradientSums::report() const {
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
          .difference_max = largest_.item<double>(),
          .differences = differences_,
          .tokens = tokens_,
          .shared_tokens = shared_tokens_,
          .measured = count_};
}

}  // namespace tritonsmith::train
