#include "gym/trial/choice_trials.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "gym/language/testing/vector_plans.h"

namespace tritonsmith::gym::trial {
namespace {

// Makes a candidate with one launch for each number, which is the count of its configs.
plan::PlanBuilder tuned(const std::vector<int>& configs) {
  plan::PlanBuilder candidate = language::candidate_of_kernel();
  const plan::LaunchStep launch = std::get<plan::LaunchStep>(candidate.plan().steps.back().action);
  for (const int count : configs) {
    candidate.launch(0, launch.choices[0].arguments);
    auto& choices = std::get<plan::LaunchStep>(candidate.plan().steps.back().action).choices;
    choices.resize(static_cast<std::size_t>(count), choices[0]);
  }
  return candidate;
}

std::vector<ChoiceTrial> trials_of(const plan::PlanBuilder& candidate,
                                   const std::string& secret = "secret") {
  return choice_trials(language::task_of("aten::relu").plan(), candidate.plan(), secret);
}

TEST(Choices, WithoutTuningThereIsNothingToTry) { EXPECT_TRUE(trials_of(tuned({1, 1})).empty()); }

TEST(Choices, EachConfigButTheFirstIsTriedOnEachKind) {
  const auto trials = trials_of(tuned({4}));
  std::set<std::pair<int, Perturbation>> seen;
  for (const ChoiceTrial& each : trials)
    seen.emplace(each.choices.begin()->second, each.perturbation);
  const std::size_t kinds =
      perturbations_for_choices(language::task_of("aten::relu").plan()).size();
  EXPECT_EQ(kinds, 8U);
  EXPECT_EQ(seen.size(), 3 * kinds);
  EXPECT_EQ(trials.size(), seen.size());
  EXPECT_TRUE(std::ranges::none_of(seen, [](const auto& each) { return each.first == 0; }));
}

TEST(Choices, OfManyConfigsEachIsTriedPlainlyAndOnSomethingElse) {
  constexpr int configs = 200;
  std::map<int, std::set<Perturbation>> kinds;
  for (const ChoiceTrial& each : trials_of(tuned({configs})))
    kinds[each.choices.begin()->second].insert(each.perturbation);
  EXPECT_EQ(kinds.size(), configs - 1);
  for (const auto& [config, tried] : kinds) {
    EXPECT_TRUE(tried.contains(Perturbation::plain));
    EXPECT_EQ(tried.size(), 2U);
  }
}

TEST(Choices, ConfigsOfSeveralLaunchesMeetInEveryPair) {
  for (const char* secret : {"one", "two", "three"}) {
    const plan::PlanBuilder candidate = tuned({2, 4});
    std::set<std::pair<int, int>> pairs;
    std::map<int, std::set<Perturbation>> of_second;
    for (const ChoiceTrial& each : trials_of(candidate, secret)) {
      ASSERT_EQ(each.choices.size(), 2U);
      pairs.emplace(each.choices.begin()->second, each.choices.rbegin()->second);
      of_second[each.choices.rbegin()->second].insert(each.perturbation);
    }
    EXPECT_EQ(pairs.size(), 8U) << secret;
    for (const auto& [config, kinds] : of_second) EXPECT_GE(kinds.size(), 4U);
  }
}

TEST(Choices, WhereInputsFollowFromDrawsConfigsMeetOtherValuesAllTheSame) {
  plan::PlanBuilder task(plan::PlanRole::task);
  const int drawn = task.tensor({language::kLength}), x = task.tensor({language::kLength}),
            y = task.tensor({language::kLength});
  task.aten(plan::Phase::inputs, "aten::rand", {plan::ints({language::kLength})}, {drawn},
            {language::kOnGpu})
      .aten(plan::Phase::inputs, "aten::exp", {plan::t(drawn)}, {x})
      .input(plan::t(x))
      .aten(plan::Phase::forward, "aten::relu", {plan::t(x)}, {y})
      .returns(plan::t(y));
  const auto kinds = perturbations_for_choices(task.plan());
  EXPECT_GE(kinds.size(), 4U);
}

}  // namespace
}  // namespace tritonsmith::gym::trial
