#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "base/temp_dir.h"
#include "generate/testing/scripted_writer.h"
#include "gym/api/testing/fake_judge.h"
#include "search/searches.h"

namespace tritonsmith::search {
namespace {

using ::testing::HasSubstr;

struct MemoryLog : SearchLog {
  std::vector<Json> events;
  std::size_t fails_after = std::string::npos;  // a process that was killed writes no more
  Status append(const Json& event) override {
    if (events.size() >= fails_after) return fail("killed");
    events.push_back(event);
    return ok();
  }
};

// The model writes "k1", "k2", ...; the test says which kernels are right.
class SearchTest : public ::testing::Test {
 protected:
  struct Outcome {
    std::vector<int> finished;
    std::string why;
    std::optional<int> best;
    int attempts = 0, judgements = 0;
    std::string error;
  };

  Outcome run(MemoryLog& log) {
    generate::ScriptedWriter writer([this](const generate::WriteRequest& request) {
      ++asked_;
      return "```python\n" + write_(request) + "\n```";
    });
    gym::api::FakeJudge judge([this](const gym::api::JudgeJob& job) {
      ++judged_;
      return judge_(job.kernel);
    });
    gym::api::FaultStreak faults(4);
    Search search({.task = {.id = "t", .source = "x"},
                   .prompting = {.prompt = {{text::Role::user, "write"}}},
                   .sampling = {.temperature = 0.8},
                   .config = config_,
                   .cost = [](const Usage&) { return 0.5; }},
                  log);
    const std::vector<Json> past = log.events;
    using enum Search::ResumedBudget;
    EXPECT_TRUE(search.resume(past, extends_ ? other : same));
    Outcome outcome;
    Searches searches({.writer = writer, .judge = judge, .faults = faults});
    searches.add(search);
    for (;;) {
      const auto next = searches.next();
      if (!next) outcome.error = next.error().message;
      if (!next || !*next) break;
      outcome.finished.push_back((**next).attempt->ask.number);
    }
    outcome.why = search.why_over();
    outcome.best = search.history().best();
    outcome.attempts = static_cast<int>(search.history().asks().size());
    outcome.judgements = search.history().spent().judgements;
    return outcome;
  }
  Outcome run() {
    MemoryLog log;
    return run(log);
  }

  SearchConfig config_{.strategy = Strategy::parallel, .attempts = 8, .workers = 3};
  bool extends_ = false;  // what an earlier run left
  int asked_ = 0, judged_ = 0, written_ = 0;
  std::function<std::string(const generate::WriteRequest&)> write_ = [this](const auto&) {
    return "k" + std::to_string(++written_);
  };
  std::function<Verdict(const std::string&)> judge_ = [](const std::string&) {
    return gym::api::failed_verdict(Stage::ran, ErrorClass::wrong_value);
  };
};

Verdict fast(double speedup) {
  Verdict verdict = gym::api::accepted_verdict();
  verdict.speedup = speedup;
  return verdict;
}

TEST_F(SearchTest, EndsWhenItsAttemptsAreUsedUp) {
  const Outcome outcome = run();
  EXPECT_EQ(outcome.finished.size(), 8U);
  EXPECT_EQ(outcome.why, "8 attempts were made");
  EXPECT_FALSE(outcome.best);
}

TEST_F(SearchTest, JudgesEqualKernelsOnce) {
  write_ = [this](const auto&) { return ++written_ % 2 == 0 ? "same" : "same \n"; };
  const Outcome outcome = run();
  EXPECT_EQ(outcome.finished.size(), 8U);
  EXPECT_EQ(outcome.judgements, 1);
  EXPECT_EQ(judged_, 1);
}

TEST_F(SearchTest, StopsAtTheFirstAcceptedKernel) {
  config_.until = Until::first;
  judge_ = [](const std::string& kernel) {
    return kernel == "k4\n" ? gym::api::accepted_verdict()
                            : gym::api::failed_verdict(Stage::ran, ErrorClass::wrong_value);
  };
  const Outcome outcome = run();
  EXPECT_EQ(outcome.why, "a kernel was accepted");
  EXPECT_EQ(outcome.best, 3);
  EXPECT_LT(outcome.attempts, 8);
}

TEST_F(SearchTest, NeverJudgesMoreThanItsBudget) {
  config_.judgements = 5;
  EXPECT_EQ(run().why, "5 kernels were judged");
  EXPECT_EQ(judged_, 5);
}

TEST_F(SearchTest, StopsWhenTokensMoneyOrPatienceAreUsedUp) {
  config_.tokens = 10;
  EXPECT_THAT(run().why, HasSubstr("tokens were used"));
  config_.tokens = 0;
  config_.money = 1;
  EXPECT_THAT(run().why, HasSubstr("was spent"));
  config_.money = 0;
  config_.patience = 2;
  judge_ = [this](const std::string&) { return fast(10 - judged_); };
  EXPECT_THAT(run().why, HasSubstr("attempts in a row brought nothing better"));
}

TEST_F(SearchTest, StopsAtAShareOfTheSpeedOfLight) {
  config_.light = 0.8;
  judge_ = [](const std::string& kernel) {
    Verdict verdict = fast(kernel == "k3\n" ? 2 : 1);
    verdict.speed_of_light = SpeedOfLight{.ms = 1, .share = kernel == "k3\n" ? 0.85 : 0.4};
    return verdict;
  };
  EXPECT_EQ(run().why, "the best kernel reaches 85 % of the speed of light");
}

TEST_F(SearchTest, SaysThatTheSpeedOfLightIsUnknownWhereItShouldHaveStopped) {
  config_.light = 0.8;
  judge_ = [](const std::string&) { return fast(2); };
  EXPECT_THAT(run().why,
              HasSubstr("made; how near the best kernel is to the speed of light is unknown"));
}

TEST_F(SearchTest, TheFastestKernelIsTheBest) {
  judge_ = [](const std::string& kernel) { return fast(kernel == "k6\n" ? 3 : 1.5); };
  EXPECT_EQ(run().best, 5);
}

TEST_F(SearchTest, TunesTheBestKernelAtTheEnd) {
  config_.attempts = 1;
  config_.tune = 3;
  write_ = [](const auto&) { return "class ModelNew: k[g](x, BLOCK=64, num_warps=4)"; };
  judge_ = [](const std::string& kernel) {
    return fast(kernel.find("BLOCK=128") != std::string::npos ? 2.0 : 1.0);
  };
  const Outcome outcome = run();
  EXPECT_EQ(outcome.attempts, 4);
  EXPECT_EQ(asked_, 1) << "the model is not asked for variants";
  EXPECT_EQ(outcome.best, 2);
}

TEST_F(SearchTest, GoesOnAfterAKillAtAnyEventAndAsksNothingTwice) {
  config_.strategy = Strategy::beam;
  config_.width = config_.branch = 2;
  judge_ = [](const std::string& kernel) {
    return fast(1 + 0.01 * static_cast<double>(kernel[1]));
  };
  MemoryLog whole;
  const Outcome expected = run(whole);
  ASSERT_EQ(expected.finished.size(), 8U);
  for (std::size_t kill = 0; kill < whole.events.size(); ++kill) {
    MemoryLog log;
    log.fails_after = kill;
    EXPECT_EQ(run(log).error, "killed");
    const auto logged = [&](std::string_view what) {
      return static_cast<int>(std::ranges::count_if(
          log.events, [&](const Json& event) { return event["event"] == what; }));
    };
    const int written = logged("written"), judged = logged("judged");
    log.fails_after = std::string::npos;
    asked_ = judged_ = 0;
    const Outcome outcome = run(log);
    EXPECT_EQ(outcome.error, "");
    EXPECT_EQ(outcome.attempts, 8) << "killed after event " << kill;
    EXPECT_EQ(outcome.why, "8 attempts were made");
    EXPECT_EQ(asked_, 8 - written) << "killed after event " << kill;
    EXPECT_EQ(judged_, 8 - judged) << "killed after event " << kill;
    EXPECT_EQ(logged("asked"), 8);
    EXPECT_EQ(logged("judged"), 8);
  }
}

TEST_F(SearchTest, AnEndedSearchStaysEnded) {
  MemoryLog log;
  run(log);
  asked_ = 0;
  const Outcome again = run(log);
  EXPECT_EQ(again.why, "8 attempts were made");
  EXPECT_EQ(again.finished.size(), 0U) << "earlier processes reported them";
  EXPECT_EQ(asked_, 0);
}

std::vector<Json> asks_in(const MemoryLog& log) {
  std::vector<Json> asks;
  for (const Json& event : log.events)
    if (event["event"] == "asked") asks.push_back(event["ask"]);
  return asks;
}

// A search that was extended asks what one with the whole budget asks, and nothing twice.
TEST_F(SearchTest, ALargerBudgetExtendsAnEndedSearch) {
  for (const Strategy strategy : {Strategy::parallel, Strategy::evolution, Strategy::beam}) {
    config_ = {.strategy = strategy, .attempts = 12, .workers = 3, .width = 2, .branch = 2};
    MemoryLog whole;
    written_ = 0;
    run(whole);
    written_ = 0;
    config_.attempts = 5;
    MemoryLog log;
    EXPECT_EQ(run(log).why, "5 attempts were made");
    config_.attempts = 12;
    asked_ = judged_ = 0;
    extends_ = true;
    const Outcome extended = run(log);
    extends_ = false;
    EXPECT_EQ(extended.why, "12 attempts were made");
    EXPECT_EQ(asked_, 7);
    EXPECT_EQ(judged_, 7);
    EXPECT_EQ(extended.finished.size(), 7U) << "the first call reported the others";
    EXPECT_EQ(asks_in(log), asks_in(whole));
    asked_ = 0;
    EXPECT_EQ(run(log).why, "12 attempts were made") << "without another budget it stays ended";
    EXPECT_EQ(asked_, 0);
  }
}

// The steps at the end of a search do not keep its strategy from going on.
TEST_F(SearchTest, ASearchThatWasTunedIsExtendedByItsStrategy) {
  const auto kernel = [](int number) {
    return "k" + std::to_string(number) + "[grid](x, BLOCK=64, num_warps=4)";
  };
  write_ = [&](const auto&) { return kernel(++written_); };
  judge_ = [](const std::string&) { return fast(2); };
  for (const Strategy strategy : {Strategy::branching, Strategy::evolution, Strategy::parallel}) {
    config_ = {
        .strategy = strategy, .attempts = 6, .workers = 3, .width = 2, .branch = 2, .tune = 2};
    MemoryLog log;
    EXPECT_EQ(run(log).attempts, 8);
    config_.attempts = 11;
    asked_ = 0;
    extends_ = true;
    EXPECT_EQ(run(log).attempts, 13);
    extends_ = false;
    EXPECT_EQ(asked_, 5) << name_of(strategy);
  }
}

TEST_F(SearchTest, AFaultOfTheGymIsJudgedAgainAfterTheRestart) {
  config_.attempts = 1;
  judge_ = [](const std::string&) {
    Verdict verdict = gym::api::failed_verdict(Stage::captured, ErrorClass::unknown);
    verdict.fault = Fault::infrastructure;
    return verdict;
  };
  MemoryLog log;
  EXPECT_EQ(run(log).finished.size(), 1U);
  std::erase_if(log.events, [](const Json& event) { return event["event"] == "ended"; });
  judge_ = [](const std::string&) { return gym::api::accepted_verdict(); };
  asked_ = 0;
  EXPECT_EQ(run(log).best, 0);
  EXPECT_EQ(asked_, 0);
}

TEST_F(SearchTest, ARowOfFaultsEndsItWithTheGymsReason) {
  judge_ = [](const std::string&) {
    Verdict verdict = gym::api::failed_verdict(Stage::captured, ErrorClass::unknown);
    verdict.fault = Fault::infrastructure;
    return verdict;
  };
  EXPECT_THAT(run().error, HasSubstr("the gym is broken"));
}

TEST(SearchFile, KeepsTheSearchesOfTasksApart) {
  const auto folder = TempDir::make("search");
  ASSERT_TRUE(folder);
  const auto path = std::filesystem::path(folder->path()) / "search.jsonl";
  {
    auto file = SearchFile::open(path);
    ASSERT_TRUE(file);
    TaskLog a(*file, "a"), b(*file, "b");
    EXPECT_TRUE(a.append({{"event", "asked"}}));
    EXPECT_TRUE(b.append({{"event", "ended"}}));
  }
  const auto again = SearchFile::open(path);
  ASSERT_TRUE(again);
  EXPECT_EQ(again->past("a").size(), 1U);
  EXPECT_EQ(again->past("b").front()["event"], "ended");
  EXPECT_TRUE(again->past("c").empty());
}

}  // namespace
}  // namespace tritonsmith::search
