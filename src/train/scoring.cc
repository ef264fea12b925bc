#include "train/scoring.h"

#include <algorithm>
#include <cmath>

namespace tritonsmith::train {
namespace {

std::vector<algorithm::MaybeReward> totals_of(std::span<const JudgedSample> group,
                                              std::span<const char> is_scored) {
  std::vector<algorithm::MaybeReward> totals(group.size());
  for (std::size_t i = 0; i < group.size(); ++i)
    if (is_scored[i] != 0) totals[i] = group[i].sample.reward.total;
  return totals;
}

std::size_t groups_without_variance(std::span<const JudgedSample> samples,
                                    std::span<const char> is_scored, std::size_t group_size) {
  std::size_t count = 0;
  for (std::size_t begin = 0; begin < samples.size(); begin += group_size)
    count += algorithm::is_without_variance(
        totals_of(samples.subspan(begin, group_size), is_scored.subspan(begin, group_size)));
  return count;
}

// The mean of a number over the samples that have a reward.
template <typename Number>
double mean_of(std::span<const JudgedSample> samples, std::span<const char> is_scored,
               Number number) {
  double sum = 0, count = 0;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    if (is_scored[i] == 0) continue;
    sum += static_cast<double>(number(samples[i].sample));
    count += 1;
  }
  return count > 0 ? sum / count : std::nan("");
}

}  // namespace

std::vector<char> score_samples(std::vector<JudgedSample>& samples, const ScoringRules& rules,
                                const References& references) {
  std::vector<char> is_scored(samples.size(), 0);
  for (std::size_t i = 0; i < samples.size(); ++i) {
    auto& [sample, kernel] = samples[i];
    const auto reference = references.find(sample.task_id);
    const auto reward =
        reward::score({.kernel = kernel,
                       .verdict = sample.verdict,
                       .reference = reference == references.end()
                                        ? std::nullopt
                                        : std::optional<std::string_view>(reference->second)},
                      rules.reward, rules.stages);
    if (!reward) continue;
    sample.reward = *reward;
    is_scored[i] = 1;
  }
  const auto size = static_cast<std::size_t>(rules.group_size);
  for (std::size_t begin = 0; begin < samples.size(); begin += size) {
    const auto totals = totals_of(std::span(samples).subspan(begin, size),
                                  std::span(is_scored).subspan(begin, size));
    const auto advantages = algorithm::group_advantages(totals, rules.advantage);
    for (std::size_t i = 0; i < size; ++i) samples[begin + i].sample.advantage = advantages[i];
  }
  return is_scored;
}

PolicyBatch policy_batch(std::span<const JudgedSample> samples, const std::vector<char>& is_scored,
                         Truncated truncated) {
  PolicyBatch batch;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const Sample& sample = samples[i].sample;
    const Completion& completion = sample.completion;
    TrainingSequence sequence{.tokens = completion.prompt,
                              .prompt_length = completion.prompt.size()};
    sequence.tokens.insert(sequence.tokens.end(), completion.tokens.begin(),
                           completion.tokens.end());
    const bool is_masked = truncated == Truncated::mask && completion.finish != FinishReason::stop;
    batch.sequences.push_back(std::move(sequence));
    batch.advantages.push_back(sample.advantage);
    batch.counts.push_back(static_cast<char>(is_scored[i] != 0 && !is_masked));
    batch.sampler.push_back(completion.logprobs);
  }
  return batch;
}

Metrics sample_metrics(std::span<const JudgedSample> samples, const std::vector<char>& is_scored,
                       int group_size) {
  const auto mean = [&](auto number) { return mean_of(samples, is_scored, number); };
  const auto reached = [&](Stage stage) {
    return mean([stage](const Sample& s) { return s.verdict.stage >= stage; });
  };
  const double reward = mean([](const Sample& s) { return s.reward.total; });
  const double square = mean([](const Sample& s) { return s.reward.total * s.reward.total; });
  const auto size = static_cast<std::size_t>(group_size);
  Metrics metrics = {
      {"reward/mean", reward},
      {"reward/std", std::sqrt(std::max(square - reward * reward, 0.0))},
      {"groups/without_variance",
       static_cast<double>(groups_without_variance(samples, is_scored, size)) /
           static_cast<double>(samples.size() / size)},
      {"samples/unscored", static_cast<double>(std::ranges::count(is_scored, 0))},
      {"stage/extracted", reached(Stage::extracted)},
      {"stage/parsed", reached(Stage::parsed)},
      {"stage/captured", reached(Stage::captured)},
      {"stage/compiled", mean([](const Sample& s) { return s.verdict.compiled; })},
      {"stage/correct", mean([](const Sample& s) { return s.verdict.correct; })},
      {"stage/accepted", mean([](const Sample& s) { return s.verdict.accepted; })},
      {"completion/tokens", mean([](const Sample& s) { return s.completion.tokens.size(); })},
      {"completion/truncated",
       mean([](const Sample& s) { return s.completion.finish != FinishReason::stop; })}};
  const auto scored = std::ranges::find(is_scored, 1);
  if (scored == is_scored.end()) return metrics;
  const Reward& first = samples[static_cast<std::size_t>(scored - is_scored.begin())].sample.reward;
  for (const RewardTerm& term : first.terms) {
    const auto value = [&](const Sample& sample) {
      const auto at = std::ranges::find(sample.reward.terms, term.name, &RewardTerm::name);
      return at == sample.reward.terms.end() ? 0.0 : at->value;
    };
    metrics.emplace_back("reward/" + term.name, mean(value));
    metrics.emplace_back("reward_weight/" + term.name, term.weight);
  }
  return metrics;
}

}  // namespace tritonsmith::train
