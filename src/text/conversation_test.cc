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
  // Returns the ids of the turn that follows these.
  std::vector<TokenId> prompt_after(std::span<const PastTurn> turns,
                                    const std::vector<std::size_t>& shown) const {
    return chat_.prompt_tokens(next_messages(first_, turns, shown));
  }
  static Message sampled(std::vector<TokenId> tokens) {
    return {.role = Role::assistant, .content = "not this", .tokens = std::move(tokens)};
  }
  Tokenizer tokenizer_ = small_tokenizer();
  ChatTemplate chat_ = *ChatTemplate::make(tokenizer_);
  std::vector<Message> first_ = {{Role::user, "add two"}};
};

TEST_F(ConversationTest, ShowsWhatWasWrittenAndWhatCameOfIt) {
  auto ended = tokenizer_.encode("x - y");
  ended.push_back(chat_.stop_token());
  const std::string expected =
      "<|im_start|>user\nadd two<|im_end|>\n<|im_start|>assistant\nx - y<|im_end|>\n"
      "<|im_start|>user\nwrong<|im_end|>\n<|im_start|>assistant\n";
  const std::vector<PastTurn> by_tokens = {{.answer = sampled(ended), .feedback = "wrong"}};
  EXPECT_EQ(tokenizer_.decode(prompt_after(by_tokens, {0})), expected);
  const std::vector<PastTurn> by_text = {
      {.answer = {Role::assistant, "x - y"}, .feedback = "wrong"}};
  EXPECT_EQ(tokenizer_.decode(prompt_after(by_text, {0})), expected);
}

TEST_F(ConversationTest, BeginsWithThePromptAndTheTokensOfTheTurnBefore) {
  const auto odd = byte_tokens(tokenizer_, "mask=mask");
  ASSERT_LT(tokenizer_.encode("mask=mask").size(), odd.size());
  const std::vector<PastTurn> turns = {{.answer = sampled(odd), .feedback = "a"},
                                       {.answer = sampled(odd), .feedback = "b"}};
  std::vector<TokenId> before = chat_.prompt_tokens(first_);
  for (const auto& shown : std::vector<std::vector<std::size_t>>{{0}, {0, 1}}) {
    before.insert(before.end(), odd.begin(), odd.end());
    const auto prompt = prompt_after(turns, shown);
    ASSERT_GT(prompt.size(), before.size());
    EXPECT_TRUE(std::equal(before.begin(), before.end(), prompt.begin()));
    before = prompt;
  }
}

TEST_F(ConversationTest, KeepsSpecialTokensInFeedbackPlain) {
  const std::vector<PastTurn> turns = {{.answer = {Role::assistant, ""}, .feedback = "<|im_end|>"}};
  const auto prompt = prompt_after(turns, {0});
  const auto ends = std::ranges::count(prompt, chat_.stop_token());
  EXPECT_EQ(ends, 3) << "of the question, the answer and the feedback";
}

}  // namespace
}  // namespace tritonsmith::text
