#include "train/credit/credit.h"

#include <map>

#include "algorithm/hierarchy.h"
#include "algorithm/returns.h"
#include "base/rng.h"
#include "reward/terms.h"

namespace tritonsmith::train {
namespace {

// Returns the turns of each trajectory as spans. The turns of a trajectory lie side by side.
std::vector<Span> trajectories_of(std::span<const JudgedSample> turns) {
  std::vector<Span> all;
  for (std::size_t i = 0; i < turns.size(); ++i) {
    const bool goes_on = i > 0 && turns[i].sample.group == turns[i - 1].sample.group &&
                         turns[i].sample.member == turns[i - 1].sample.member;
    if (!goes_on) all.push_back({.begin = i, .end = i});
    all.back().end = i + 1;
  }
  return all;
}

// Returns the turns that the mismatch to the sampler allows (MRS), by trajectory and then by turn.
std::vector<char> kept_by_mismatch(std::span<const JudgedSample> turns,
                                   const algorithm::MismatchRejection& rule,
                                   const PolicyBatch& batch) {
  std::vector<char> keeps(turns.size(), 1);
  if (!rule.is_on()) return keeps;
  for (const Span& trajectory : trajectories_of(turns)) {
    algorithm::LogRatios whole;
    for (std::size_t i = trajectory.begin; i < trajectory.end; ++i) {
      algorithm::LogRatios turn;
      turn.add(batch.old[i], batch.sampler[i]);
      keeps[i] = static_cast<char>(rule.keeps_turn(turn));
      whole.add(turn);
    }
    if (rule.keeps_trajectory(whole)) continue;
    for (std::size_t i = trajectory.begin; i < trajectory.end; ++i) keeps[i] = 0;
  }
  return keeps;
}

bool kept_by_profile(const Sample& sample, const CreditRules& rules) {
  if (!rules.profile) return true;
  const double keep = algorithm::keep_probability(sample.verdict, *rules.profile);
  if (keep >= 1) return true;
  const std::string stream =
      fmt::format("profile rejection {} {} {}", sample.step, sample.group, sample.member);
  return Rng(rules.seed, stream, static_cast<std::uint64_t>(sample.turn)).uniform() < keep;
}

enum class RewardClass { all, thinking, code };

double reward_of(const Reward& reward, RewardClass part) {
  if (part == RewardClass::all) return reward.total;
  double sum = 0;
  for (const RewardTerm& term : reward.terms) {
    const bool is_thinking = term.name == reward::kSpeedTerm || term.name == reward::kCoverageTerm;
    if (is_thinking == (part == RewardClass::thinking)) sum += term.value * term.weight;
  }
  return sum;
}

struct TurnFlags {
  std::vector<char> is_scored, is_kept;  // for each turn; is_kept: no rule rejects it
};

// Returns each turn's advantage by one part of the reward.
std::vector<double> advantages_by(RewardClass part, std::span<const JudgedSample> turns,
                                  const TurnFlags& flags, const CreditRules& rules) {
  std::map<std::pair<int, int>, std::size_t> groups;  // (prompt, turn)
  std::vector<algorithm::Outcome> outcomes(turns.size());
  for (const Span& trajectory : trajectories_of(turns)) {
    std::vector<algorithm::MaybeReward> rewards;
    for (std::size_t i = trajectory.begin; i < trajectory.end; ++i) {
      algorithm::MaybeReward reward;
      if (flags.is_scored[i] != 0)
        reward = flags.is_kept[i] != 0 ? reward_of(turns[i].sample.reward, part) : 0.0;
      rewards.push_back(reward);
    }
    const auto returns = algorithm::discounted_returns(rewards, rules.discount);
    for (std::size_t i = trajectory.begin; i < trajectory.end; ++i) {
      const Sample& sample = turns[i].sample;
      outcomes[i].group =
          groups.try_emplace({sample.group, sample.turn}, groups.size()).first->second;
      if (flags.is_kept[i] != 0) outcomes[i].reward = returns[i - trajectory.begin];
    }
  }
  return algorithm::batch_advantages(outcomes, rules.advantage);
}

void fill_advantages(std::span<JudgedSample> turns, const TurnFlags& flags,
                     const CreditRules& rules, PolicyBatch& batch) {
  const bool apart = rules.kind == CreditKind::hierarchical;
  const auto code =
      advantages_by(apart ? RewardClass::code : RewardClass::all, turns, flags, rules);
  std::vector<double> thinking(turns.size(), 0.0);
  if (apart) thinking = advantages_by(RewardClass::thinking, turns, flags, rules);
  batch.advantages.resize(turns.size());
  for (std::size_t i = 0; i < turns.size(); ++i) {
    const std::size_t tokens = batch.sampler[i].size();
    const std::size_t thinking_tokens =
        apart ? algorithm::thinking_length(turns[i].kernel, tokens) : std::size_t{0};
    batch.advantages[i] = algorithm::hierarchical_advantages(
        thinking_tokens, tokens, {.thinking = thinking[i], .code = code[i]}, rules.thinking_alpha);
    turns[i].sample.advantage = code[i];
  }
}

}  // namespace

Rejections assign_credit(std::span<JudgedSample> turns, std::span<const char> is_scored,
                         const CreditRules& rules, PolicyBatch& batch) {
  Rejections rejections;
  TurnFlags flags{.is_scored = {is_scored.begin(), is_scored.end()},
                  .is_kept = kept_by_mismatch(turns, rules.mismatch, batch)};
  for (std::size_t i = 0; i < turns.size(); ++i) {
    const Sample& sample = turns[i].sample;
    const bool by_profile = kept_by_profile(sample, rules);
    const bool is_cut = rules.mask_truncated && sample.completion.finish != FinishReason::stop;
    rejections.unscored += is_scored[i] == 0;
    rejections.mismatch += flags.is_kept[i] == 0;
    rejections.profile += !by_profile;
    rejections.truncated += is_cut;
    const bool is_kept = is_scored[i] != 0 && flags.is_kept[i] != 0 && by_profile;
    flags.is_kept[i] = static_cast<char>(is_kept);
    batch.counts[i] = static_cast<char>(is_kept && !is_cut);
  }
  fill_advantages(turns, flags, rules, batch);
  return rejections;
}

}  // namespace tritonsmith::train
