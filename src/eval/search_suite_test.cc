#include "eval/search_suite.h"

#include <gtest/gtest.h>

#include "gym/api/testing/fake_judge.h"

namespace tritonsmith::eval {
namespace {

class NoLog : public search::SearchLog {
 public:
  Status append(const Json&) override { return ok(); }
};

// A search whose attempts wrote these kernels, one after the other. "good" is accepted, and an empty
// one is an answer without a kernel.
class PastSearch {
 public:
  explicit PastSearch(const std::vector<std::string>& kernels)
      : search_({.task = {.id = "t", .source = "x"}}, log_) {
    std::vector<Json> events;
    std::map<std::string, int> first;
    for (int number = 0; number < std::ssize(kernels); ++number) {
      const std::string& kernel = kernels[static_cast<std::size_t>(number)];
      events.push_back(
          {{"event", "asked"}, {"ask", search::to_json(search::Ask{.number = number})}});
      const std::string text = kernel.empty() ? "no" : "```python\n" + kernel + "\n```";
      events.push_back(
          {{"event", "written"},
           {"number", number},
           {"text", text},
           {"finish", "stop"},
           {"usage", search::to_json(Usage{.prompt_tokens = 2, .completion_tokens = 8})}});
      const Verdict verdict = verdict_of(kernel);
      Json judged = {
          {"event", "judged"}, {"number", number}, {"verdict", to_json(verdict)}, {"seconds", 1.0}};
      if (first.contains(kernel)) judged["same_as"] = first[kernel];
      if (!kernel.empty()) first.emplace(kernel, number);
      events.push_back(std::move(judged));
    }
    EXPECT_TRUE(search_.resume(events));
  }
  // "good" is accepted; "good_H200_3" is three times as fast as PyTorch on an H200.
  static Verdict verdict_of(const std::string& kernel) {
    if (!kernel.starts_with("good"))
      return gym::api::failed_verdict(Stage::ran, ErrorClass::wrong_value);
    Verdict verdict = gym::api::accepted_verdict();
    verdict.speedup.reset();
    verdict.time_ms.reset();
    if (kernel == "good") return verdict;
    verdict.environment.gpu = kernel.substr(5, 4);
    verdict.speedup = std::stod(kernel.substr(10));
    return verdict;
  }
  AtBudget at(int budget, BudgetUnit unit) const {
    const search::Search* searches[] = {&search_};
    return reached_at(budget, unit, searches);
  }
  TimedDevices devices() const {
    const search::Search* searches[] = {&search_};
    return timed_devices(searches);
  }

 private:
  NoLog log_;
  search::Search search_;
};

TEST(SearchSuite, ComparesTimesOfOneKindOfGpu) {
  const PastSearch past({"good_H200_2", "good_A100_9", "good_H200_3", "good"});
  EXPECT_NEAR(past.at(4, BudgetUnit::attempts).speedup, 3, 1e-12);
  EXPECT_EQ(past.devices().most(), "H200");
  EXPECT_EQ(past.devices().others_than("H200"), "1 on A100");
}

TEST(SearchSuite, ABudgetOfAttemptsCountsEveryAnswer) {
  const PastSearch past({"a", "a", "", "b", "good"});
  EXPECT_EQ(past.at(4, BudgetUnit::attempts).accepted, 0);
  EXPECT_EQ(past.at(4, BudgetUnit::attempts).judgements, 2);
  EXPECT_EQ(past.at(5, BudgetUnit::attempts).accepted, 1);
  EXPECT_EQ(past.at(5, BudgetUnit::attempts).tokens, 50);
}

TEST(SearchSuite, ABudgetOfJudgementsCountsDifferentKernelsAlone) {
  const PastSearch past({"a", "a", "", "b", "good"});
  const AtBudget two = past.at(2, BudgetUnit::judgements);
  EXPECT_EQ(two.accepted, 0);
  EXPECT_EQ(two.attempts, 4);
  EXPECT_EQ(two.judgements, 2);
  EXPECT_EQ(past.at(3, BudgetUnit::judgements).accepted, 1);
  EXPECT_EQ(past.at(1, BudgetUnit::judgements).attempts, 3) << "what follows takes no judgement";
}

TEST(SearchSuite, TheBudgetIsTheLimitOfJudgementsIfThereIsOne) {
  EXPECT_EQ(budget_of({.attempts = 64}), 64);
  EXPECT_EQ(budget_unit({.attempts = 64}), BudgetUnit::attempts);
  EXPECT_EQ(budget_of({.attempts = 2048, .judgements = 32}), 32);
  EXPECT_EQ(budget_unit({.attempts = 2048, .judgements = 32}), BudgetUnit::judgements);
}

}  // namespace
}  // namespace tritonsmith::eval
