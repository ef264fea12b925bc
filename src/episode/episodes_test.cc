#include "episode/episodes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "generate/testing/fake_engine.h"
#include "generate/testing/scripted_writer.h"
#include "generate/token_writer.h"
#include "gym/api/testing/fake_judge.h"
#include "text/testing/small_tokenizer.h"

namespace tritonsmith::episode {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

// The model writes the number of its prompt's turns, "1" at first. `is_right_` tells the judge what
// to accept.
class EpisodesTest : public ::testing::Test {
 protected:
  std::vector<PlayedTurn> play(int episodes = 1, const std::vector<PlayedTurn>& played = {}) {
    return play_with(*token_writer(), episodes, played);
  }
  std::vector<PlayedTurn> play_with(generate::Writer& writer, int episodes = 1,
                                    const std::vector<PlayedTurn>& played = {}) {
    writings_ = judgings_ = 0;
    gym::api::FakeJudge judge([this](const gym::api::JudgeJob& job) {
      Verdict verdict = is_right_(job.kernel)
                            ? gym::api::accepted_verdict()
                            : gym::api::failed_verdict(Stage::ran, ErrorClass::wrong_value);
      verdict.speedup = speedup_;
      if (job.kernel == broken_) verdict.fault = Fault::infrastructure;
      return verdict;
    });
    gym::api::FaultStreak faults(gym::api::kFaultsInARow);
    Episodes all(options_,
                 {.writer = writer,
                  .judge = judge,
                  .faults = faults,
                  .score = [](const Kernel& kernel,
                              const Verdict&) { return kernel.source == "2\n" ? 1.0 : 0.0; },
                  .observe =
                      [this](const PhaseTime& time) {
                        EXPECT_LE(time.begin, time.end);
                        ++(time.phase == TurnPhase::writing ? writings_ : judgings_);
                      }});
    for (int i = 0; i < episodes; ++i) {
      const auto begun = all.begin({.id = static_cast<std::uint64_t>(i) + 3,
                                    .task = &task_,
                                    .messages = messages_,
                                    .sampling = {.max_new_tokens = 40, .stop = stop_},
                                    .seed = 1},
                                   played);
      EXPECT_TRUE(begun);
    }
    std::vector<PlayedTurn> turns;
    for (;;) {
      auto turn = all.next();
      EXPECT_TRUE(turn) << turn.error().message;
      if (!turn || !*turn) break;
      turns.push_back(std::move(**turn));
    }
    EXPECT_EQ(all.judged(), turns.size());
    EXPECT_EQ(writings_, judgings_) << "every completion here holds a kernel";
    EXPECT_EQ(writings_, turns.size());
    EXPECT_LE(all.activity().both, std::min(all.activity().writing, all.activity().judging));
    return turns;
  }
  std::unique_ptr<generate::TokenWriter> token_writer() {
    return writer_over(std::make_unique<generate::FakeEngine>(
        [this](const auto& request) { return write(request); }, positions_));
  }
  std::unique_ptr<generate::TokenWriter> writer_over(
      std::unique_ptr<generate::TokenEngine> engine) const {
    return std::make_unique<generate::TokenWriter>(std::move(engine),
                                                   generate::ChatCodec(tokenizer_, chat_));
  }
  std::vector<TokenId> write(const generate::GenerationRequest& request) {
    const std::string prompt = tokenizer_.decode(request.prompt);
    prompts_.push_back(prompt);
    seeds_.push_back(request.seed);
    auto tokens =
        tokenizer_.encode("<answer>\n```python\n" + std::to_string(++count_) + "\n```\n</answer>");
    if (request.is_complete) ends_.push_back(request.is_complete(tokens));
    tokens.push_back(chat_.stop_token());
    return tokens;
  }

  text::Tokenizer tokenizer_ = text::small_tokenizer();
  text::ChatTemplate chat_ = *text::ChatTemplate::make(tokenizer_);
  Task task_{.id = "t", .source = "x"};
  const std::vector<text::Message> messages_ = {{text::Role::user, "add"}};
  EpisodeOptions options_;
  std::int64_t positions_ = 0;  // the model's limit; 0: none
  std::function<bool(const std::string&)> is_right_ = [](const std::string&) { return false; };
  std::optional<double> speedup_;
  std::string broken_;
  int count_ = 0;
  std::size_t writings_ = 0, judgings_ = 0;
  std::vector<std::string> prompts_;
  std::vector<std::uint64_t> seeds_;
  std::vector<std::string> stop_;
  std::vector<bool> ends_;  // for each completion that was searched, whether it holds a stop string
};

TEST_F(EpisodesTest, LookForStopStringsInEachTurn) {
  options_.turns.limit = 2;
  stop_ = {"nothing like it", "2\n```"};
  play();
  EXPECT_EQ(ends_, (std::vector<bool>{false, true}));
}

TEST_F(EpisodesTest, ShowTheVerdictToTheNextTurn) {
  options_.turns.limit = 3;
  const auto turns = play();
  ASSERT_THAT(turns, SizeIs(3));
  EXPECT_EQ(turns[0].kernel.source, "1\n");
  EXPECT_FALSE(turns[1].is_last);
  EXPECT_TRUE(turns[2].is_last);
  EXPECT_EQ(turns[2].turn, 2);
  EXPECT_THAT(prompts_[2], HasSubstr(prompts_[1]));
  EXPECT_THAT(prompts_[2], HasSubstr("wrong_value"));
  EXPECT_NE(seeds_[1], seeds_[2]);
}

TEST_F(EpisodesTest, MakeOneSequenceOfTokens) {
  options_.turns.limit = 3;
  const auto turns = play();
  for (std::size_t t = 1; t < turns.size(); ++t) {
    auto before = turns[t - 1].completion.prompt;
    const auto& written = turns[t - 1].completion.tokens;
    before.insert(before.end(), written.begin(), written.end());
    const auto& prompt = turns[t].completion.prompt;
    ASSERT_GT(prompt.size(), before.size());
    EXPECT_TRUE(std::equal(before.begin(), before.end(), prompt.begin()));
  }
}

TEST_F(EpisodesTest, GoOnByTextWhereTheWriterHasNoTokens) {
  options_.turns.limit = 3;
  std::vector<std::vector<text::Message>> asked;
  generate::ScriptedWriter writer([&](const generate::WriteRequest& request) {
    asked.push_back(request.messages);
    return "<answer>\n```python\n" + std::to_string(asked.size()) + "\n```\n</answer>";
  });
  const auto turns = play_with(writer);
  ASSERT_THAT(turns, SizeIs(3));
  EXPECT_EQ(turns[2].kernel.source, "3\n");
  EXPECT_TRUE(turns[2].kernel.code_tokens.empty()) << "the writer has no tokens";
  ASSERT_THAT(asked[2], SizeIs(5));
  EXPECT_EQ(asked[2][0], messages_[0]);
  EXPECT_EQ(asked[2][1], (text::Message{text::Role::assistant, turns[0].completion.text}));
  EXPECT_EQ(asked[2][2].role, text::Role::user);
  EXPECT_THAT(asked[2][2].content, HasSubstr("wrong_value"));
  EXPECT_EQ(turns[2].prompt, text::to_text(asked[2]));
}

TEST_F(EpisodesTest, EndOnceAcceptedOrFast) {
  options_.turns = {.limit = 4, .end_when = EndWhen::accepted};
  is_right_ = [](const std::string& kernel) { return kernel == "2\n"; };
  EXPECT_THAT(play(), SizeIs(2));
  count_ = 0;
  options_.turns.end_when = EndWhen::fast;
  EXPECT_THAT(play(), SizeIs(2)) << "no speed was measured";
  count_ = 0;
  speedup_ = 1.1;
  EXPECT_THAT(play(), SizeIs(4)) << "too slow";
  count_ = 0;
  speedup_ = 1.3;
  EXPECT_THAT(play(), SizeIs(2));
  count_ = 0;
  options_.turns.end_when = EndWhen::never;
  EXPECT_THAT(play(), SizeIs(4));
}

TEST_F(EpisodesTest, EndWhereTheGymFailed) {
  options_.turns.limit = 3;
  broken_ = "2\n";
  EXPECT_THAT(play(), SizeIs(2));
}

TEST_F(EpisodesTest, KeepTheBestTurnsInContext) {
  options_.turns = {.limit = 4, .context = text::ContextRule::best, .keep = 1};
  play();
  EXPECT_THAT(prompts_[3], HasSubstr("\n2\n")) << "which scores highest";
  EXPECT_THAT(prompts_[3], ::testing::Not(HasSubstr("\n3\n")));
  EXPECT_THAT(prompts_[3], ::testing::StartsWith(prompts_[0]));
}

TEST_F(EpisodesTest, EndWhereTheWholeConversationHasNoRoom) {
  options_.turns.limit = 4;
  play();
  const auto second = static_cast<std::int64_t>(tokenizer_.encode(prompts_[1]).size());
  positions_ = second + 60;
  count_ = 0;
  EXPECT_LT(play().size(), 4U);
  options_.turns.context = text::ContextRule::last;
  count_ = 0;
  EXPECT_THAT(play(), SizeIs(4)) << "a managed context gives up turns instead";
}

TEST_F(EpisodesTest, GoOnAfterTheTurnsThatWerePlayed) {
  options_.turns.limit = 3;
  auto whole = play();
  const std::string third = prompts_[2];
  count_ = 2;
  whole.pop_back();
  const auto rest = play(1, whole);
  ASSERT_THAT(rest, SizeIs(1));
  EXPECT_EQ(prompts_.back(), third);
  EXPECT_EQ(seeds_.back(), seeds_[2]);
}

// Returns no verdict at the first looks, like a judge that still works.
class SlowJudge : public gym::api::FakeJudge {
 public:
  using gym::api::FakeJudge::FakeJudge;
  Result<std::optional<gym::api::Judged>> next(Deadline deadline) override {
    if (looks_++ < 3) return std::optional<gym::api::Judged>();
    return gym::api::FakeJudge::next(deadline);
  }

 private:
  int looks_ = 0;
};

// Finishes one completion. It finishes no other before a second turn is requested.
class LongEngine : public generate::FakeEngine {
 public:
  LongEngine(Write write, int episodes) : FakeEngine(std::move(write)), episodes_(episodes) {}
  Status submit(generate::GenerationRequest request) override {
    ++submitted_;
    return FakeEngine::submit(std::move(request));
  }
  Result<std::optional<generate::Generated>> next_by(Deadline deadline) override {
    if (given_ == 0 || submitted_ > episodes_) {
      ++given_;
      return FakeEngine::next_by(deadline);
    }
    if (deadline.at() == Deadline::never().at()) return fail("would write on without a look");
    while (!deadline.passed()) {
    }
    return std::optional<generate::Generated>();
  }

 private:
  int episodes_, submitted_ = 0, given_ = 0;
};

TEST_F(EpisodesTest, BeginTheNextTurnWhileOthersAreStillWritten) {
  const auto writer = writer_over(
      std::make_unique<LongEngine>([this](const auto& request) { return write(request); }, 2));
  SlowJudge judge([](const gym::api::JudgeJob&) {
    return gym::api::failed_verdict(Stage::ran, ErrorClass::wrong_value);
  });
  gym::api::FaultStreak faults(gym::api::kFaultsInARow);
  options_.turns.limit = 2;
  Episodes all(options_, {.writer = *writer, .judge = judge, .faults = faults});
  for (std::uint64_t id = 1; id <= 2; ++id)
    ASSERT_TRUE(all.begin({.id = id,
                           .task = &task_,
                           .messages = messages_,
                           .sampling = {.max_new_tokens = 40},
                           .seed = 1}));
  int turns = 0;
  for (;; ++turns) {
    const auto turn = all.next();
    ASSERT_TRUE(turn) << turn.error().message;
    if (!*turn) break;
  }
  EXPECT_EQ(turns, 4);
}

TEST_F(EpisodesTest, RunSideBySide) {
  options_.turns.limit = 2;
  const auto turns = play(5);
  EXPECT_THAT(turns, SizeIs(10));
  std::map<std::uint64_t, int> counts;
  for (const PlayedTurn& turn : turns) EXPECT_EQ(turn.turn, counts[turn.episode]++);
}

}  // namespace
}  // namespace tritonsmith::episode
