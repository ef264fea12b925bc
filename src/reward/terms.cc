#include "reward/terms.h"

#include <algorithm>

#include "reward/similarity.h"

namespace tritonsmith::reward {
namespace {

bool has_finding(const Kernel& kernel, std::string_view rule) {
  return std::ranges::find(kernel.findings, rule, &Finding::rule) != kernel.findings.end();
}

// No weight and no cap is larger, so that every reward is a finite number.
constexpr double kMost = 1e6;

}  // namespace

Fields<RewardConfig> RewardConfig::fields() {
  return {
      field("earning", &RewardConfig::earning,
            "Which verdict is rewarded for execution: accepted, or correct. `correct` pays for "
            "hacks too, and only serves to measure what the checks are worth."),
      field("format", &RewardConfig::format, "The weight of thinking and an answer in their tags.",
            between(0.0, kMost)),
      field("similarity", &RewardConfig::similarity,
            "The weight of similarity to a reference solution.", between(0.0, kMost)),
      field("compiled", &RewardConfig::compiled, "The weight of compiling.", between(0.0, kMost)),
      field("correct", &RewardConfig::correct, "The weight of the verdict that `earning` names.",
            between(0.0, kMost)),
      field("speed", &RewardConfig::speed,
            "The weight of the speed-up over the reference, where a GPU measured it.",
            between(0.0, kMost)),
      field("speed_cap", &RewardConfig::speed_cap, "A higher speed-up earns no more than this one.",
            between(0.0, kMost)),
      field("coverage", &RewardConfig::coverage,
            "The weight of the share of device time in the candidate's own kernels.",
            between(0.0, kMost)),
      field("saturation_begin", &RewardConfig::saturation_begin,
            "The terms format and compiled pay less once their moving rate, the share of samples "
            "that earn them, exceeds this.",
            between(0.0, 2.0)),
      field("saturation_end", &RewardConfig::saturation_end,
            "The terms format and compiled pay nothing once their moving rate exceeds this.",
            between(0.0, 2.0)),
      field("rate_memory", &RewardConfig::rate_memory,
            "The share of the moving rate that a step keeps.", between(0.0, 0.9999))};
}

double format_value(const Kernel& kernel) {
  const bool has_thinking =
      !kernel.thinking_bytes.empty() && !has_finding(kernel, "unclosed_thinking");
  const bool has_answer = !kernel.source.empty() && !has_finding(kernel, "no_answer") &&
                          !has_finding(kernel, "unclosed_answer");
  if (!has_thinking) return 0;
  return has_answer ? 1 : 0.5;
}

std::optional<Reward> score(const ScoreInput& input, const RewardConfig& config,
                            const StageState& state) {
  const Verdict& verdict = input.verdict;
  if (verdict.fault == Fault::infrastructure) return std::nullopt;
  const bool pays_all = config.earning == Earning::correct;
  const bool honest = pays_all || !has_rejecting_finding(verdict);
  Reward reward;
  const auto add = [&](std::string name, double value, double weight) {
    reward.terms.push_back({std::move(name), value, weight});
  };
  add("format", format_value(input.kernel),
      config.format * pay_factor(state.format_rate(), config));
  if (config.similarity > 0 && input.reference)
    add("similarity", similarity(input.kernel.source, *input.reference), config.similarity);
  add("compiled", verdict.compiled && honest ? 1 : 0,
      config.compiled * pay_factor(state.compiled_rate(), config));
  const bool earns = pays_all ? verdict.correct : verdict.accepted && honest;
  add("correct", earns ? 1 : 0, config.correct);
  if (config.speed > 0)
    add(kSpeedTerm, earns ? std::clamp(verdict.speedup.value_or(0), 0.0, config.speed_cap) : 0,
        config.speed);
  if (config.coverage > 0)
    add(kCoverageTerm, earns ? std::clamp(verdict.coverage.value_or(0), 0.0, 1.0) : 0,
        config.coverage);
  for (const RewardTerm& term : reward.terms) reward.total += term.value * term.weight;
  return reward;
}

}  // namespace tritonsmith::reward
