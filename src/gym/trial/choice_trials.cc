#include "gym/trial/choice_trials.h"

#include <algorithm>
#include <iterator>
#include <numeric>

namespace tritonsmith::gym::trial {
namespace {

struct Tuned {
  std::size_t step = 0;
  std::size_t configs = 0;
};

std::vector<Tuned> tuned_launches(const plan::Plan& plan) {
  std::vector<Tuned> tuned;
  for (std::size_t k = 0; k < plan.steps.size(); ++k)
    if (const auto* launch = std::get_if<plan::LaunchStep>(&plan.steps[k].action);
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

// Mixes the configs of several launches, pass by pass.
class Mixer {
 public:
  Mixer(std::vector<Tuned> tuned, Rng& rng) : tuned_(std::move(tuned)), rng_(rng) {
    for (const Tuned& each : tuned_) {
      rounds_ = std::max(rounds_, each.configs);
      orders_.push_back(shuffled(each.configs, rng_));
    }
  }

  // Returns mixtures that hold each config of each launch at least once. From pass to pass the
  // second launch moves on by one config against the first. The configs of all other launches are
  // drawn at random.
  std::vector<replay::Choices> pass(std::size_t nth) {
    for (std::size_t k = 2; k < tuned_.size(); ++k) rng_.shuffle(orders_[k]);
    std::vector<replay::Choices> rounds(rounds_);
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

std::vector<Perturbation> perturbations_for_choices(const plan::Plan& task) {
  std::vector<Perturbation> kinds = {Perturbation::plain};
  const std::vector<Perturbation> extreme = extreme_perturbations(task);
  // Where rows of one value leave nothing to compare, another config would not either.
  std::ranges::copy_if(extreme, std::back_inserter(kinds), [&](Perturbation kind) {
    return kind != Perturbation::scattered ||
           std::ranges::find(extreme, Perturbation::uneven) == extreme.end();
  });
  const auto is_heavy = [](Perturbation kind) { return kind == Perturbation::heavy; };
  if (std::ranges::all_of(extreme, is_heavy))
    kinds.insert(kinds.end(), {Perturbation::scaled, Perturbation::negated});
  return kinds;
}

std::vector<ChoiceTrial> choice_trials(const plan::Plan& task, const plan::Plan& candidate,
                                       std::string_view secret) {
  constexpr std::size_t many = 24;  // the most further trials
  const std::vector<Tuned> tuned = tuned_launches(candidate);
  if (tuned.empty()) return {};
  Rng rng(trial_seed(secret, "choices", 0), "choices", 0);
  const std::vector<Perturbation> kinds = perturbations_for_choices(task);
  Mixer mixer(tuned, rng);
  const std::size_t offset = rng.below(kinds.size() - 1);
  std::vector<ChoiceTrial> trials;
  for (std::size_t pass = 0; pass < kinds.size(); ++pass) {
    std::vector<replay::Choices> rounds = mixer.pass(pass);
    if (tuned.size() == 1)
      std::erase_if(rounds, [](const replay::Choices& each) { return each.begin()->second == 0; });
    const std::size_t most = std::max<std::size_t>(2, many / rounds.size());
    for (std::size_t round = 0; round < rounds.size(); ++round) {
      const bool is_due = pass == 0 || (pass + round + offset) % (kinds.size() - 1) + 1 < most;
      if (is_due)
        trials.push_back({.perturbation = kinds[pass], .choices = std::move(rounds[round])});
    }
  }
  return trials;
}

}  // namespace tritonsmith::gym::trial
