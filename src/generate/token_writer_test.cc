#include "generate/token_writer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "generate/testing/fake_engine.h"
#include "text/testing/small_tokenizer.h"

namespace tritonsmith::generate {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;
using text::Message;
using text::Role;

// Uses an engine that returns `answer_` token by token, up to its limits, as a real one would.
class TokenWriterTest : public ::testing::Test {
 protected:
  std::vector<TokenId> write(const GenerationRequest& request) {
    requests_.push_back(request);
    std::vector<TokenId> tokens;
    for (const TokenId token : answer_) {
      tokens.push_back(token);
      if (std::ranges::find(request.stop_tokens, token) != request.stop_tokens.end()) break;
      if (request.is_complete && request.is_complete(tokens)) break;
    }
    return tokens;
  }
  std::vector<TokenId> ended(const std::string& text) const {
    auto tokens = tokenizer_.encode(text);
    tokens.push_back(chat_.stop_token());
    return tokens;
  }
  Written write_one(WriteRequest request) {
    EXPECT_TRUE(writer_->submit(std::move(request)));
    auto written = writer_->next();
    EXPECT_TRUE(written && *written);
    return **written;
  }

  const std::vector<Message> add_ = {{Role::user, "add"}};
  text::Tokenizer tokenizer_ = text::small_tokenizer();
  text::ChatTemplate chat_ = *text::ChatTemplate::make(tokenizer_);
  std::vector<TokenId> answer_ = ended("x = é + 1");
  std::vector<GenerationRequest> requests_;
  std::unique_ptr<TokenWriter> writer_ = std::make_unique<TokenWriter>(
      std::make_unique<FakeEngine>([this](const auto& request) { return write(request); }, 60),
      ChatCodec(tokenizer_, chat_));
};

TEST_F(TokenWriterTest, GivesTextAndTokensOfTheSameCompletion) {
  const Written written = write_one({.id = 7, .messages = add_, .seed = 3});
  EXPECT_EQ(written.id, 7U);
  EXPECT_EQ(written.completion.text, "x = é + 1");
  EXPECT_EQ(written.completion.tokens, answer_);
  EXPECT_THAT(written.completion.logprobs, SizeIs(answer_.size()));
  EXPECT_EQ(written.completion.prompt, chat_.prompt_tokens(add_));
  EXPECT_EQ(written.prompt, "<|im_start|>user\nadd<|im_end|>\n<|im_start|>assistant\n");
  EXPECT_EQ(written.completion.usage, (Usage{.prompt_tokens = std::ssize(written.completion.prompt),
                                             .completion_tokens = std::ssize(answer_)}));
  ASSERT_THAT(written.token_ends, SizeIs(answer_.size() - 1)) << "all but the stop token";
  EXPECT_EQ(written.token_ends.back(), written.completion.text.size());
  EXPECT_EQ(requests_[0].seed, 3U);
  EXPECT_EQ(requests_[0].is_complete, nullptr) << "nothing looks at the text while it is written";
}

TEST_F(TokenWriterTest, TakesPromptsOfTokensAsTheyAre) {
  const auto odd = text::byte_tokens(tokenizer_, "mask=mask");
  ASSERT_TRUE(writer_->submit(TokenRequest{.id = 1, .prompt = odd, .seed = 5}));
  const auto written = writer_->next();
  ASSERT_TRUE(written && *written);
  EXPECT_EQ(requests_[0].prompt, odd);
  EXPECT_EQ((*written)->completion.prompt, odd);
  EXPECT_EQ((*written)->completion.text, "x = é + 1");
}

TEST_F(TokenWriterTest, ContinuesWhatItWroteByItsTokens) {
  answer_ = text::byte_tokens(tokenizer_, "mask=mask");
  ASSERT_LT(tokenizer_.encode("mask=mask").size(), answer_.size());
  answer_.push_back(chat_.stop_token());
  const Written first = write_one({.id = 1, .messages = add_});
  std::vector<Message> messages = add_;
  messages.push_back({Role::assistant, first.completion.text, first.completion.tokens});
  messages.push_back({Role::user, "wrong"});
  const Written second = write_one({.id = 2, .messages = messages});
  std::vector<TokenId> before = first.completion.prompt;
  before.insert(before.end(), answer_.begin(), answer_.end());
  ASSERT_GT(second.completion.prompt.size(), before.size());
  EXPECT_TRUE(std::equal(before.begin(), before.end(), second.completion.prompt.begin()));
}

TEST_F(TokenWriterTest, EndsACompletionAtAStopStringWhichStaysInTheText) {
  answer_ = ended("x\n</answer>\nand more");
  const Written written =
      write_one({.id = 1, .messages = add_, .sampling = {.stop = {"", "</answer>"}}});
  EXPECT_TRUE(written.completion.text.ends_with("</answer>")) << written.completion.text;
  EXPECT_EQ(write_one({.id = 2, .messages = add_}).completion.text, "x\n</answer>\nand more");
}

TEST_F(TokenWriterTest, FindsAStopStringThatSeveralTokensMakeUp) {
  const auto tokens = tokenizer_.encode("a = \"é");
  answer_ = ended("a = \"é\" # and more");
  const Written written = write_one({.id = 1, .messages = add_, .sampling = {.stop = {"é"}}});
  EXPECT_EQ(written.completion.tokens, tokens) << "two bytes, one or two tokens";
}

TEST_F(TokenWriterTest, StreamsTheTextInPieces) {
  std::vector<std::string> pieces;
  const auto keep = [&](std::string_view piece) { pieces.emplace_back(piece); };
  const Written written = write_one({.id = 1, .messages = add_, .on_text = keep});
  EXPECT_GT(pieces.size(), 2U);
  std::string whole;
  for (const std::string& piece : pieces) {
    EXPECT_FALSE(piece.empty());
    whole += piece;
  }
  EXPECT_EQ(whole, written.completion.text);
}

TEST_F(TokenWriterTest, StreamsTheWholeTextOfAnEngineThatShowsNoTokensMeanwhile) {
  TokenWriter writer(
      std::make_unique<FakeEngine>([this](const GenerationRequest&) { return answer_; }),
      ChatCodec(tokenizer_, chat_));
  std::string whole;
  ASSERT_TRUE(writer.submit(WriteRequest{
      .id = 1, .messages = add_, .on_text = [&](std::string_view piece) { whole += piece; }}));
  ASSERT_TRUE(writer.next());
  EXPECT_EQ(whole, "x = é + 1");
}

TEST_F(TokenWriterTest, KnowsWhetherAConversationFits) {
  const auto prompt = std::ssize(chat_.prompt_tokens(add_));
  EXPECT_EQ(writer_->context_length(), 60);
  EXPECT_TRUE(writer_->has_room(add_, {.max_new_tokens = static_cast<int>(60 - prompt)}));
  EXPECT_FALSE(writer_->has_room(add_, {.max_new_tokens = static_cast<int>(61 - prompt)}));
  const TokenWriter boundless(
      std::make_unique<FakeEngine>([](const auto&) { return std::vector<TokenId>(); }),
      ChatCodec(tokenizer_, chat_));
  EXPECT_TRUE(boundless.has_room(add_, {.max_new_tokens = 1 << 20}));
  EXPECT_FALSE(boundless.context_length());
}

TEST_F(TokenWriterTest, ForgetsWhatIsCancelled) {
  ASSERT_TRUE(writer_->submit(WriteRequest{.id = 1, .messages = add_}));
  writer_->cancel(1);
  const auto written = writer_->next();
  ASSERT_TRUE(written);
  EXPECT_FALSE(written->has_value());
}

}  // namespace
}  // namespace tritonsmith::generate
