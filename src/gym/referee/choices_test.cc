#include "gym/referee/choices.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "gym/referee/testing/vector_plans.h"

namespace tritonsmith::gym {
namespace {

// As many launches as numbers, each with as many configs.
PlanBuilder tuned(const std::vector<int>& configs) {
  PlanBuilder candidate = candidate_of_kernel();
  const LaunchStep launch = std::get<LaunchStep>(candidate.plan().steps.back().action);
  for (const int count : configs) {
    candidate.launch(0, launch.choices[0].arguments);
    auto& choices = std::get<LaunchStep>(candidate.plan().steps.back().action).choices;
    choices.resize(static_cast<std::size_t>(count), choices[0]);
  }
  return candidate;
}

std::vector<ChoiceTrial> trials_of(const PlanBuilder& candidate,
                                   const std::string& secret = "secret") {
  return choice_trials(task_of("aten::relu").plan(), candidate.plan(), secret);
}

TEST(Choices, WithoutTuningThereIsNothingToTry) { EXPECT_TRUE(trials_of(tuned({1, 1})).empty()); }

TEST(Choices, EachConfigButTheFirstIsTriedOnEachKind) {
  const auto trials = trials_of(tuned({4}));
  std::set<std::pair<int, TrialKind>> seen;
  for (const ChoiceTrial& each : trials) seen.emplace(each.choices.begin()->second, each.kind);
  const std::size_t kinds = kinds_for_choices(task_of("aten::relu").plan()).size();
  EXPECT_EQ(kinds, 6U);
  EXPECT_EQ(seen.size(), 3 * kinds);
  EXPECT_EQ(trials.size(), seen.size());
  EXPECT_TRUE(std::ranges::none_of(seen, [](const auto& each) { return each.first == 0; }));
}

TEST(Choices, OfManyConfigsEachIsTriedPlainlyAndOnSomethingElse) {
  constexpr int configs = 200;
  std::map<int, std::set<TrialKind>> kinds;
  for (const ChoiceTrial& each : trials_of(tuned({configs})))
    kinds[each.choices.begin()->second].insert(each.kind);
  EXPECT_EQ(kinds.size(), configs - 1);
  for (const auto& [config, tried] : kinds) {
    EXPECT_TRUE(tried.contains(TrialKind::plain));
    EXPECT_EQ(tried.size(), 2U);
  }
}

TEST(Choices, ConfigsOfSeveralLaunchesMeetInEveryPair) {
  for (const char* secret : {"one", "two", "three"}) {
    const PlanBuilder candidate = tuned({2, 4});
    std::set<std::pair<int, int>> pairs;
    std::map<TrialKind, std::set<int>> of_second;
    for (const ChoiceTrial& each : trials_of(candidate, secret)) {
      ASSERT_EQ(each.choices.size(), 2U);
      pairs.emplace(each.choices.begin()->second, each.choices.rbegin()->second);
      of_second[each.kind].insert(each.choices.rbegin()->second);
    }
    EXPECT_EQ(pairs.size(), 8U) << secret;
    for (const auto& [kind, configs] : of_second) EXPECT_EQ(configs.size(), 4U);
  }
}

TEST(Choices, WhereNoInputIsFreeConfigsMeetOtherValuesAllTheSame) {
  PlanBuilder task(PlanRole::task);
  const int drawn = task.tensor({kLength}), x = task.tensor({kLength}), y = task.tensor({kLength});
  task.aten(Phase::inputs, "aten::rand", {ints({kLength})}, {drawn}, {kOnGpu})
      .aten(Phase::inputs, "aten::exp", {t(drawn)}, {x})
      .input(t(x))
      .aten(Phase::forward, "aten::relu", {t(x)}, {y})
      .returns(t(y));
  const auto kinds = kinds_for_choices(task.plan());
  EXPECT_NE(std::ranges::find(kinds, TrialKind::negated), kinds.end());
}

}  // namespace
}  // namespace tritonsmith::gym
