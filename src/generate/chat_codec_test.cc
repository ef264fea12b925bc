#include "generate/chat_codec.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "text/testing/small_tokenizer.h"

namespace tritonsmith::generate {
namespace {

using ::testing::ElementsAreArray;
using text::Message;
using text::Role;

class ChatCodecTest : public ::testing::Test {
 protected:
  text::Tokenizer tokenizer_ = text::small_tokenizer();
  text::ChatTemplate chat_ = *text::ChatTemplate::make(tokenizer_);
  TokenId end_of_text_ = *tokenizer_.id_of("<|endoftext|>");
  ChatCodec codec_{tokenizer_, chat_, std::vector<TokenId>{end_of_text_, chat_.stop_token()}};
};

TEST_F(ChatCodecTest, RendersAsTheTemplateDoesHoweverOftenAndInWhateverOrder) {
  const auto odd = text::byte_tokens(tokenizer_, "mask=mask");
  const std::vector<std::vector<Message>> conversations = {
      {{Role::user, "add"}},
      {{Role::system, "be brief"}, {Role::user, "add"}},
      {{Role::user, "add"}, {Role::assistant, "mask=mask", odd}, {Role::user, "wrong"}},
      {{Role::user, "add"}, {Role::assistant, "mask=mask"}, {Role::user, "wrong"}},
      {{Role::assistant, "x"}, {Role::user, "y"}}};
  for (int round = 0; round < 2; ++round)
    for (const auto& messages : conversations)
      EXPECT_THAT(codec_.render(messages), ElementsAreArray(chat_.prompt_tokens(messages)));
  EXPECT_NE(codec_.render(conversations[2]), codec_.render(conversations[3]));
}

TEST_F(ChatCodecTest, RendersMorePromptsThanItRemembers) {
  for (int round = 0; round < 2; ++round)
    for (int i = 0; i < 600; ++i) {
      const std::vector<Message> messages = {{Role::user, std::to_string(i)}};
      ASSERT_THAT(codec_.render(messages), ElementsAreArray(chat_.prompt_tokens(messages)));
    }
}

TEST_F(ChatCodecTest, LeavesOutTheStopTokenAndNothingElse) {
  const auto text_of = [&](const Completion& completion) {
    return tokenizer_.decode(codec_.text_tokens(completion));
  };
  Completion completion{.tokens = tokenizer_.encode("x = 1"), .finish = FinishReason::stop};
  EXPECT_EQ(text_of(completion), "x = 1") << "ended by a stop string";
  for (const TokenId stop : {chat_.stop_token(), end_of_text_}) {
    completion.tokens = tokenizer_.encode("x = 1");
    completion.tokens.push_back(stop);
    EXPECT_EQ(text_of(completion), "x = 1");
  }
  EXPECT_TRUE(codec_.text_tokens({}).empty());
  EXPECT_THAT(codec_.stop_tokens(), ElementsAreArray({chat_.stop_token(), end_of_text_}));
}

}  // namespace
}  // namespace tritonsmith::generate
