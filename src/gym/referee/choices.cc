#include "gym/referee/choices.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace tritonsmith::gym {
namespace {

struct Tuned {
  std::size_t step = 0;
  std::size_t configs = 0;
};

std::vector<Tuned> tuned_launches(const Plan& plan) {
  std::vector<Tuned> tuned;
  for (std::size_t k = 0; k < plan.steps.size(); ++k)
    if (const auto* launch = std::get_if<LaunchStep>(&plan.steps[k].action);
        launch != nullptr && launch->choices.size() > 1)
      tuned.push_back({k, launch->choices.size()});
  return tuned;
}

std::vector<std::size_t> shuffled(std::size_t count, Rng& rng) {
  std::vector<std::size_t> order(count);
  std::iota(order.begin(), order.end(), std::size_t{0});
  rng.shuffle(order);
  return order;
}

// Mixtures of several launches' configs, pass by pass.
class Mixer {
 public:
  Mixer(std::vector<Tuned> tuned, Rng& rng) : tuned_(std::move(tuned)), rng_(rng) {
    for (const Tuned& each : tuned_) {
      rounds_ = std::max(rounds_, each.configs);
      orders_.push_back(shuffled(each.configs, rng_));
    }
  }

  // Each config of each launch at least once. Against the first launch the second moves on by one
  // from pass to pass, all others by chance.
  std::vector<Choices> pass(std::size_t nth) {
    for (std::size_t k = 2; k < tuned_.size(); ++k) rng_.shuffle(orders_[k]);
    std::vector<Choices> rounds(rounds_);
    for (std::size_t round = 0; round < rounds_; ++round)
      for (std::size_t k = 0; k < tuned_.size(); ++k) {
        const std::size_t at = (round + (k == 1 ? nth : 0)) % tuned_[k].configs;
        rounds[round][tuned_[k].step] = static_cast<int>(orders_[k][at]);
      }
    return rounds;
  }

 private:
  std::vector<Tuned> tuned_;
  Rng& rng_;
  std::size_t rounds_ = 1;
  std::vector<std::vector<std::size_t>> orders_;
};

}  // namespace

const LaunchChoice& chosen_of(const LaunchStep& launch, std::size_t step, const Choices& choices) {
  const auto at = choices.find(step);
  const auto wanted = static_cast<std::size_t>(at == choices.end() ? 0 : at->second);
  return launch.choices.at(std::min(wanted, launch.choices.size() - 1));
}

std::string text_of(const Choices& choices, const Plan& plan) {
  std::string text;
  for (const auto& [step, choice] : choices)
    text += fmt::format("{}config {} in line {}", text.empty() ? "" : ", ", choice + 1,
                        plan.steps.at(step).line);
  return text;
}

std::vector<TrialKind> kinds_for_choices(const Plan& task) {
  std::vector<TrialKind> kinds = {TrialKind::plain};
  const std::vector<TrialKind> extreme = extreme_kinds(task);
  kinds.insert(kinds.end(), extreme.begin(), extreme.end());
  const auto is_heavy = [](TrialKind kind) { return kind == TrialKind::heavy; };
  if (std::ranges::all_of(extreme, is_heavy))
    kinds.insert(kinds.end(), {TrialKind::scaled, TrialKind::negated});
  return kinds;
}

std::vector<ChoiceTrial> choice_trials(const Plan& task, const Plan& candidate,
                                       std::string_view secret) {
  constexpr std::size_t many = 24;  // trials
  const std::vector<Tuned> tuned = tuned_launches(candidate);
  if (tuned.empty()) return {};
  Rng rng(trial_seed(secret, "choices", 0), "choices", 0);
  const std::vector<TrialKind> kinds = kinds_for_choices(task);
  Mixer mixer(tuned, rng);
  const std::size_t offset = rng.below(kinds.size() - 1);
  std::vector<ChoiceTrial> trials;
  for (std::size_t pass = 0; pass < kinds.size(); ++pass) {
    std::vector<Choices> rounds = mixer.pass(pass);
    if (tuned.size() == 1)
      std::erase_if(rounds, [](const Choices& each) { return each.begin()->second == 0; });
    const std::size_t most = std::max<std::size_t>(2, many / rounds.size());
    for (std::size_t round = 0; round < rounds.size(); ++round) {
      const bool is_due = pass == 0 || (pass + round + offset) % (kinds.size() - 1) + 1 < most;
      if (is_due) trials.push_back({.kind = kinds[pass], .choices = std::move(rounds[round])});
    }
  }
  return trials;
}

}  // namespace tritonsmith::gym
