#include "train/experience/scoring.h"

#include <algorithm>
#include <cmath>

#include "algorithm/overlong.h"

namespace tritonsmith::train {
namespace {

// Returns the mean of a number over the samples that have a reward.
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

// Tells whether the sample's execution earned something.
bool is_rewarded(const Sample& sample) {
  return std::ranges::any_of(sample.reward.terms, [](const RewardTerm& term) {
    return term.name == "correct" && term.value > 0 && term.weight > 0;
  });
}

// Adds the metrics of each turn if there are several.
void add_turn_metrics(std::span<const JudgedSample> samples, std::span<const char> is_scored,
                      Metrics& metrics) {
  struct Turn {
    double count = 0, reward = 0, accepted = 0;
  };
  std::map<int, Turn> turns;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    if (is_scored[i] == 0) continue;
    const Sample& sample = samples[i].sample;
    Turn& turn = turns[sample.turn];
    turn.count += 1;
    turn.reward += sample.reward.total;
    turn.accepted += sample.verdict.accepted ? 1 : 0;
  }
  for (const auto& [number, turn] : turns) {
    const std::string name = fmt::format("turn_{}/", number + 1);
    metrics.insert(metrics.end(), {{name + "reward", turn.reward / turn.count},
                                   {name + "accepted", turn.accepted / turn.count},
                                   {name + "samples", turn.count}});
  }
}

}  // namespace

Status add_url_terms(std::span<JudgedSample> samples, const reward::UrlReward& url, double weight) {
  std::vector<reward::UrlItem> items;
  std::vector<Sample*> asked;
  for (JudgedSample& each : samples) {
    Sample& sample = each.sample;
    if (sample.verdict.fault == Fault::infrastructure) continue;
    asked.push_back(&sample);
    items.push_back({.task = sample.task_id,
                     .turn = sample.turn,
                     .prompt = sample.prompt,
                     .completion = sample.completion.text,
                     .kernel = sample.kernel,
                     .verdict = &sample.verdict});
  }
  TRY_ASSIGN(const std::vector<double> rewards, url.ask(items));
  for (std::size_t i = 0; i < asked.size(); ++i)
    asked[i]->reward.terms = {{reward::kUrlTerm, rewards[i], weight}};
  return ok();
}

std::vector<char> score_samples(std::span<JudgedSample> samples, const ScoringRules& rules,
                                const References& references) {
  std::vector<char> is_scored(samples.size(), 0);
  for (std::size_t i = 0; i < samples.size(); ++i) {
    auto& [sample, kernel] = samples[i];
    const auto reference = references.find(sample.task_id);
    auto reward =
        reward::score({.kernel = kernel,
                       .verdict = sample.verdict,
                       .reference = reference == references.end()
                                        ? std::nullopt
                                        : std::optional<std::string_view>(reference->second)},
                      rules.reward, rules.stages);
    if (!reward) continue;
    if (rules.overlong_weight > 0) {
      const double penalty = algorithm::overlong_penalty(
          std::ssize(sample.completion.tokens), sample.completion.finish, rules.max_new_tokens,
          rules.overlong_cache);
      reward->terms.push_back({"overlong", penalty, rules.overlong_weight});
      reward->total += penalty * rules.overlong_weight;
    }
    for (RewardTerm& term : sample.reward.terms) {
      if (term.name != reward::kUrlTerm) continue;  // of an earlier scoring
      reward->total += term.value * term.weight;
      reward->terms.push_back(std::move(term));
    }
    sample.reward = *std::move(reward);
    is_scored[i] = 1;
  }
  return is_scored;
}

std::vector<Span> groups_of(std::span<const JudgedSample> samples) {
  std::vector<Span> groups;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    if (i == 0 || samples[i].sample.group != samples[i - 1].sample.group)
      groups.push_back({.begin = i, .end = i});
    groups.back().end = i + 1;
  }
  return groups;
}

bool has_variance(std::span<const JudgedSample> group, std::span<const char> is_scored,
                  double smallest_deviation) {
  std::map<int, std::vector<algorithm::MaybeReward>> of_turn;
  for (std::size_t i = 0; i < group.size(); ++i)
    if (is_scored[i] != 0) of_turn[group[i].sample.turn].emplace_back(group[i].sample.reward.total);
  return std::ranges::any_of(of_turn, [&](const auto& turn) {
    return !algorithm::is_without_variance(turn.second) &&
           algorithm::deviation_of(turn.second, algorithm::Deviation::unbiased) >=
               smallest_deviation;
  });
}

Metrics sample_metrics(std::span<const JudgedSample> samples, const std::vector<char>& is_scored) {
  const auto mean = [&](auto number) { return mean_of(samples, is_scored, number); };
  const auto reached = [&](Stage stage) {
    return mean([stage](const Sample& s) { return s.verdict.stage >= stage; });
  };
  const double reward = mean([](const Sample& s) { return s.reward.total; });
  const double square = mean([](const Sample& s) { return s.reward.total * s.reward.total; });
  const std::vector<Span> groups = groups_of(samples);
  const auto flat = std::ranges::count_if(groups, [&](const Span& group) {
    const std::size_t size = group.end - group.begin;
    return !has_variance(samples.subspan(group.begin, size),
                         std::span(is_scored).subspan(group.begin, size), 0);
  });
  const bool has_turns =
      std::ranges::any_of(samples, [](const JudgedSample& s) { return s.sample.turn > 0; });
  Metrics metrics = {
      {"reward/mean", reward},
      {"reward/std", std::sqrt(std::max(square - reward * reward, 0.0))},
      {"groups/without_variance", static_cast<double>(flat) / static_cast<double>(groups.size())},
      {"samples/unscored", static_cast<double>(std::ranges::count(is_scored, 0))},
      {"stage/extracted", reached(Stage::extracted)},
      {"stage/parsed", reached(Stage::parsed)},
      {"stage/captured", reached(Stage::captured)},
      {"stage/compiled", mean([](const Sample& s) { return s.verdict.compiled; })},
      {"stage/correct", mean([](const Sample& s) { return s.verdict.correct; })},
      {"stage/accepted", mean([](const Sample& s) { return s.verdict.accepted; })},
      {"hacks/found", mean([](const Sample& s) { return has_rejecting_finding(s.verdict); })},
      {"hacks/rewarded",
       mean([](const Sample& s) { return is_rewarded(s) && has_rejecting_finding(s.verdict); })},
      {"completion/tokens", mean([](const Sample& s) { return s.completion.tokens.size(); })},
      {"completion/truncated",
       mean([](const Sample& s) { return s.completion.finish != FinishReason::stop; })}};
  if (has_turns) add_turn_metrics(samples, is_scored, metrics);
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
