#include "search/strategies.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "gym/api/testing/fake_judge.h"
#include "search/messages.h"
#include "search/tuning.h"

namespace tritonsmith::search {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

Verdict right(std::optional<double> speedup = std::nullopt) {
  Verdict verdict = gym::api::accepted_verdict();
  verdict.speedup = speedup;
  return verdict;
}

Verdict wrong() { return gym::api::failed_verdict(Stage::ran, ErrorClass::wrong_value); }

// Gives an attempt's kernel and verdict.
using Answer = std::function<std::pair<std::string, Verdict>(const Ask&)>;

// A history that a test fills.
class StrategiesTest : public ::testing::Test {
 protected:
  // Asks and answers until nothing is asked or `most` were asked, one after the other.
  void play(const SearchConfig& config, int most, const Answer& answer) {
    while (std::ssize(history_.asks()) < most) {
      const auto ask = next_ask(config, history_, 7);
      if (!ask) return;
      history_.begin(*ask);
      finish(*ask, answer);
    }
  }
  void finish(const Ask& ask, const Answer& answer) {
    auto [kernel, verdict] = answer(ask);
    history_.finish({.ask = ask,
                     .text = ask.kind == AskKind::ideas ? kernel : "answer " + kernel,
                     .kernel = ask.kind == AskKind::ideas ? "" : kernel,
                     .verdict = std::move(verdict)});
  }
  std::vector<int> parents() const {
    std::vector<int> all;
    for (const Ask& ask : history_.asks()) all.push_back(ask.parent);
    return all;
  }

  History history_;
};

const Answer kAlwaysWrong = [](const Ask& ask) {
  return std::pair("kernel " + std::to_string(ask.number), wrong());
};

TEST_F(StrategiesTest, ParallelAsksFromTheTaskAloneAndIsGreedyOnce) {
  play({.strategy = Strategy::parallel}, 5, kAlwaysWrong);
  EXPECT_THAT(parents(), ElementsAre(-1, -1, -1, -1, -1));
  std::set<std::uint64_t> draws;
  for (const Ask& ask : history_.asks()) {
    EXPECT_EQ(ask.is_greedy, ask.number == 0);
    draws.insert(ask.draw);
  }
  EXPECT_THAT(draws, SizeIs(5));
}

TEST_F(StrategiesTest, AConversationGoesOnUntilItsLastTurnOrAFastKernel) {
  const SearchConfig config{.strategy = Strategy::sequential,
                            .workers = 1,
                            .chains = 2,
                            .turns = {.limit = 3, .end_when = episode::EndWhen::accepted}};
  play(config, 100, [](const Ask& ask) {
    const bool is_right = ask.chain == 1 && ask.round == 1;
    return std::pair("k" + std::to_string(ask.number), is_right ? right() : wrong());
  });
  EXPECT_THAT(parents(), ElementsAre(-1, 0, 1, -1, 3));
  EXPECT_TRUE(history_.asks()[2].is_greedy) << "all turns of the first conversation are";
  EXPECT_FALSE(history_.asks()[3].is_greedy);
}

TEST_F(StrategiesTest, ConversationsRunSideBySideAndDrawAlikeInAnyOrder) {
  const SearchConfig config{.strategy = Strategy::sequential, .workers = 2, .turns = {.limit = 2}};
  for (int i = 0; i < 2; ++i) history_.begin(*next_ask(config, history_, 7));
  EXPECT_FALSE(next_ask(config, history_, 7)) << "both workers are busy";
  finish(history_.asks()[1], kAlwaysWrong);
  const auto second_turn = next_ask(config, history_, 7);
  ASSERT_TRUE(second_turn);
  EXPECT_EQ(second_turn->parent, 1);
  EXPECT_EQ(second_turn->draw, (std::uint64_t{1} << 16) + 1) << "of conversation 1, turn 1";
}

TEST_F(StrategiesTest, ABeamChangesTheBestDifferentKernels) {
  const SearchConfig config{.strategy = Strategy::beam, .width = 2, .branch = 2};
  play(config, 8, [](const Ask& ask) {
    const double speedups[] = {1.1, 1.5, 1.5, 1.3};
    const std::string kernels[] = {"a", "b", "b ", "c"};
    const auto i = static_cast<std::size_t>(ask.number % 4);
    return std::pair(kernels[i], right(speedups[i]));
  });
  EXPECT_THAT(parents(), ElementsAre(-1, -1, -1, -1, 1, 1, 3, 3)) << "b once, then c";
}

TEST_F(StrategiesTest, ARoundBeginsOnlyWhenTheLastOneHasEnded) {
  const SearchConfig config{.strategy = Strategy::beam, .width = 1, .branch = 2};
  for (int i = 0; i < 2; ++i) history_.begin(*next_ask(config, history_, 7));
  EXPECT_FALSE(next_ask(config, history_, 7));
  finish(history_.asks()[1], kAlwaysWrong);
  EXPECT_FALSE(next_ask(config, history_, 7));
  finish(history_.asks()[0], kAlwaysWrong);
  EXPECT_EQ(next_ask(config, history_, 7)->round, 1);
}

TEST_F(StrategiesTest, TheArchiveKeepsTheBestAndOthersThatWorkOtherwise) {
  const SearchConfig config{.strategy = Strategy::parallel};
  play(config, 5, [](const Ask& ask) {
    Verdict verdict = right(2.0 - 0.1 * ask.number);
    verdict.kernels.resize(ask.number == 4 ? 3 : 1);
    return std::pair("k" + std::to_string(ask.number), std::move(verdict));
  });
  EXPECT_THAT(archive_of(history_, 9, 2), ElementsAre(0, 1, 4)) << "4 launches other kernels";
}

TEST_F(StrategiesTest, EvolutionMixesChangesOfTheArchiveWithNewBeginnings) {
  const SearchConfig config{
      .strategy = Strategy::evolution, .width = 2, .branch = 20, .fresh = 0.25};
  play(config, 80, [](const Ask& ask) {
    return std::pair("k" + std::to_string(ask.number), right(1.0 + ask.number));
  });
  int fresh = 0;
  for (const Ask& ask : history_.asks())
    if (ask.round == 1) {
      fresh += ask.parent == kNone ? 1 : 0;
      if (ask.parent != kNone) {
        EXPECT_THAT(archive_of(history_, 1, 2), ::testing::Contains(ask.parent));
      }
    }
  EXPECT_GT(fresh, 3);
  EXPECT_LT(fresh, 20);
}

TEST_F(StrategiesTest, ABeamAndBranchingBeginSomeAttemptsAnewUntilAKernelIsAccepted) {
  for (const Strategy strategy : {Strategy::beam, Strategy::branching})
    for (const bool is_right : {false, true}) {
      history_ = {};
      const SearchConfig config{.strategy = strategy, .width = 2, .branch = 20, .fresh = 0.25};
      play(config, 200, [&](const Ask& ask) {
        return std::pair("k" + std::to_string(ask.number), is_right ? right() : wrong());
      });
      int fresh = 0, changes = 0;
      for (const Ask& ask : history_.asks())
        if (ask.round >= 2 && ask.kind == AskKind::kernel)
          ++(ask.parent == kNone ? fresh : changes);
      EXPECT_GT(changes, 50);
      if (is_right) {
        EXPECT_EQ(fresh, 0);
      } else {
        EXPECT_GT(fresh, 15);
        EXPECT_LT(fresh, changes);
      }
    }
}

TEST_F(StrategiesTest, BranchingImplementsEachIdeaSeveralTimes) {
  const SearchConfig config{.strategy = Strategy::branching, .width = 2, .branch = 2};
  play(config, 6, [](const Ask& ask) {
    const bool asks_ideas = ask.kind == AskKind::ideas;
    return std::pair<std::string, Verdict>(
        asks_ideas ? "1. Fuse both passes.\n2) Use wider loads.\n3. Too many." : "k", right(1.5));
  });
  std::vector<std::string> ideas;
  for (const Ask& ask : history_.asks()) ideas.push_back(ask.idea);
  EXPECT_THAT(ideas, ElementsAre("", "Fuse both passes.", "Fuse both passes.", "Use wider loads.",
                                 "Use wider loads.", ""));
  EXPECT_EQ(history_.asks()[5].kind, AskKind::ideas);
  EXPECT_EQ(history_.asks()[5].parent, 1) << "the next ideas are about the best kernel";
}

TEST_F(StrategiesTest, BranchingWritesKernelsForAModelThatStatesNoIdeas) {
  play({.strategy = Strategy::branching, .width = 2, .branch = 1}, 3, kAlwaysWrong);
  EXPECT_EQ(history_.asks()[1].kind, AskKind::kernel);
  EXPECT_THAT(history_.asks()[1].idea, IsEmpty());
}

TEST(Ideas, AreTheLinesOfAListAfterTheThinking) {
  EXPECT_THAT(ideas_in("<think>1. no</think>\nHere:\n- One  \n* Two\n10. Ten\n-none\n4.5 ms", 9),
              ElementsAre("One", "Two", "Ten"));
  EXPECT_THAT(ideas_in("no list", 9), IsEmpty());
}

class MessagesTest : public StrategiesTest {
 protected:
  std::vector<text::Message> messages(const Ask& ask) const {
    return messages_for(ask, config_, history_, prompting_);
  }
  void answered(Verdict verdict, const std::string& kernel) {
    const Ask ask{.number = static_cast<int>(history_.asks().size())};
    history_.begin(ask);
    history_.finish({.ask = ask, .text = "", .kernel = kernel, .verdict = std::move(verdict)});
  }
  SearchConfig config_;
  Prompting prompting_{.prompt = {{text::Role::user, "the task"}}};
};

TEST_F(MessagesTest, AChangeIsReportedWithItsProfile) {
  Verdict verdict = right(1.5);
  verdict.kernels = {
      {.name = "softmax", .launches = 2, .device_us = 75, .registers = 64, .spills = 12}};
  verdict.aten = {{.op = "aten::mm", .calls = 1, .device_us = 25}};
  verdict.findings = {{.rule = "low_occupancy",
                       .severity = Severity::note,
                       .message = "softmax has an occupancy of 12 %: a block of 8 warps takes 255 "
                                  "registers a thread and 0 bytes of shared memory"}};
  answered(verdict, "the kernel");
  answered(right(1.2), "the other");
  const auto all = messages({.number = 2, .parent = 0, .other = 1});
  ASSERT_THAT(all, SizeIs(3));
  EXPECT_EQ(all[1].content, "<answer>\n```python\nthe kernel\n```\n</answer>");
  EXPECT_THAT(all[2].content, HasSubstr("softmax takes 75 % of the time:"));
  EXPECT_THAT(all[2].content, HasSubstr("softmax spills 12 registers"));
  EXPECT_THAT(all[2].content, HasSubstr("softmax has an occupancy of 12 %"));
  EXPECT_THAT(all[2].content, HasSubstr("the other"));
  EXPECT_THAT(all[2].content, HasSubstr("Make one change"));
}

TEST_F(MessagesTest, AChangeIsShownWhatBoundsTheTask) {
  Verdict verdict = right(1.5);
  verdict.speed_of_light = {.ms = 0.5, .bound = Bound::memory, .share = 0.4, .bytes = 3e6};
  answered(verdict, "k");
  const std::string last = messages({.number = 1, .parent = 0}).back().content;
  EXPECT_THAT(last, HasSubstr("Any kernel needs at least 0.5000 ms here, to move 3 MB."));
}

TEST_F(MessagesTest, AFailedParentIsMended) {
  answered(wrong(), "k");
  const auto all = messages({.number = 1, .parent = 0});
  EXPECT_THAT(all.back().content, HasSubstr("Find the mistake"));
  EXPECT_THAT(all.back().content, Not(HasSubstr("Make one change")));
}

TEST_F(MessagesTest, IdeasAreAskedForAndImplemented) {
  config_.width = 3;
  EXPECT_THAT(messages({.kind = AskKind::ideas}).back().content,
              HasSubstr("State 3 different ideas for a fast kernel"));
  EXPECT_THAT(messages({.idea = "Fuse."}).back().content, HasSubstr("Implement this idea: Fuse."));
}

TEST_F(MessagesTest, AParentThatDoesNotFitIsLeftOut) {
  answered(right(), "k");
  Ask ask{.number = 1, .parent = 0};
  const auto all = fitting_messages(ask, config_, history_, prompting_,
                                    [](std::span<const text::Message> m) { return m.size() < 2; });
  EXPECT_THAT(all, SizeIs(1));
  EXPECT_EQ(ask.parent, kNone);
}

TEST(Tuning, ChangesOneConstantOfOneLaunch) {
  EXPECT_THAT(
      variants_of("def f(x):\n  add[(n,)](x, (1, 2), BLOCK=1024, num_warps=4)  # k[g](A=8)\n"),
      ElementsAre(HasSubstr("BLOCK=512, num_warps=4"), HasSubstr("BLOCK=2048, num_warps=4"),
                  HasSubstr("BLOCK=1024, num_warps=2"), HasSubstr("BLOCK=1024, num_warps=8")));
}

TEST(Tuning, GivesWarpsToALaunchWithoutThem) {
  EXPECT_THAT(variants_of("k[grid](x, n)"),
              ElementsAre("k[grid](x, n, num_warps=2)", "k[grid](x, n, num_warps=8)"));
  EXPECT_THAT(variants_of("k[grid](x, n=3,)").front(), "k[grid](x, n=3,num_warps=2)");
}

TEST(Tuning, LeavesOtherCallsAlone) {
  EXPECT_THAT(variants_of("f(BLOCK=64)\ny = x[0]\n'''k[g](B=64)'''\ns = \"k[g](B=64)\"\n"),
              IsEmpty());
}

}  // namespace
}  // namespace tritonsmith::search
