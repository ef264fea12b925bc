#include "text/conversation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "text/testing/small_tokenizer.h"

namespace tritonsmith::text {
namespace {

using ::testing::ElementsAre;

TEST(TurnsToShow, AreAllTheBestOrTheLast) {
  const std::vector<double> scores = {0.5, 2, 0, 0.5, 1};
  EXPECT_THAT(turns_to_show(scores, ContextRule::all, 2), ElementsAre(0, 1, 2, 3, 4));
  EXPECT_THAT(turns_to_show(scores, ContextRule::last, 2), ElementsAre(3, 4));
  EXPECT_THAT(turns_to_show(scores, ContextRule::best, 2), ElementsAre(1, 4));
  EXPECT_THAT(turns_to_show(scores, ContextRule::best, 3), ElementsAre(1, 3, 4)) << "ties: later";
  EXPECT_THAT(turns_to_show(scores, ContextRule::best, 9), ElementsAre(0, 1, 2, 3, 4));
}

class ConversationTest : public ::testing::Test {
 protected:
  Tokenizer tokenizer_ = small_tokenizer();
  ChatTemplate chat_ = *ChatTemplate::make(tokenizer_);
  std::vector<TokenId> first_ = chat_.prompt_tokens(std::vector<Message>{{Role::user, "add two"}});
};

TEST_F(ConversationTest, ShowsWhatWasWrittenAndWhatCameOfIt) {
  auto ended = tokenizer_.encode("x - y");
  ended.push_back(chat_.stop_token());
  const std::vector<PastTurn> turns = {{.completion = ended, .feedback = "wrong"}};
  EXPECT_EQ(tokenizer_.decode(next_prompt(chat_, first_, turns, std::vector<std::size_t>{0})),
            "<|im_start|>user\nadd two<|im_end|>\n<|im_start|>assistant\nx - y<|im_end|>\n"
            "<|im_start|>user\nwrong<|im_end|>\n<|im_start|>assistant\n");
}

TEST_F(ConversationTest, BeginsWithThePromptAndTheTokensOfTheTurnBefore) {
  // "tl" is one token, but was sampled as two.
  const std::vector<TokenId> odd = {*tokenizer_.id_of("t"), *tokenizer_.id_of("l")};
  const std::vector<PastTurn> turns = {{.completion = odd, .feedback = "a"},
                                       {.completion = odd, .feedback = "b"}};
  std::vector<TokenId> before = first_;
  for (const auto& shown : std::vector<std::vector<std::size_t>>{{0}, {0, 1}}) {
    before.insert(before.end(), odd.begin(), odd.end());
    const auto prompt = next_prompt(chat_, first_, turns, shown);
    ASSERT_GT(prompt.size(), before.size());
    EXPECT_TRUE(std::equal(before.begin(), before.end(), prompt.begin()));
    before = prompt;
  }
}

TEST_F(ConversationTest, KeepsSpecialTokensInFeedbackPlain) {
  const std::vector<PastTurn> turns = {{.completion = {}, .feedback = "<|im_end|>"}};
  const auto prompt = next_prompt(chat_, first_, turns, std::vector<std::size_t>{0});
  const auto ends = std::ranges::count(prompt, chat_.stop_token());
  EXPECT_EQ(ends, 3) << "of the question, the answer and the feedback";
}

}  // namespace
}  // namespace tritonsmith::text
