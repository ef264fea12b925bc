#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/event_stream.h"
#include "serve/openai/choice_stream.h"
#include "serve/openai/model_reply.h"
#include "serve/openai/testing/stepping_engine.h"
#include "text/testing/small_tokenizer.h"

namespace tritonsmith::serve::openai {
namespace {

std::string text_of(const std::vector<TokenText>& tokens) {
  std::string text;
  for (const TokenText& each : tokens) text += each.text;
  return text;
}

// Sends the tokens in pieces of so many, and the last ones with the end.
std::vector<StreamPart> parts_of(const std::vector<TokenText>& all, std::size_t size) {
  ChoiceStream stream({"END"});
  std::vector<StreamPart> parts;
  std::size_t at = 0;
  for (; at + size < all.size(); at += size) {
    const std::vector<TokenText> some(all.begin() + static_cast<std::ptrdiff_t>(at),
                                      all.begin() + static_cast<std::ptrdiff_t>(at + size));
    parts.push_back(stream.push(text_of(some), some));
  }
  const std::vector<TokenText> rest(all.begin() + static_cast<std::ptrdiff_t>(at), all.end());
  parts.push_back(stream.finish(text_of(rest), all));
  return parts;
}

TEST(ChoiceStream, GivesEachTokenOnceAndWithItsText) {
  // A token without text is the beginning of a character.
  const std::vector<TokenText> all = {{"o", -1}, {"ne", -2}, {"", -3}, {"é", -4},
                                      {"E", -5}, {"N", -6},  {"x", -7}};
  for (std::size_t size = 1; size <= all.size(); ++size) {
    std::string text, of_tokens;
    std::vector<float> logprobs;
    for (const StreamPart& part : parts_of(all, size)) {
      EXPECT_EQ(part.offset, of_tokens.size());
      text += part.text;
      of_tokens += text_of(part.tokens);
      for (const TokenText& each : part.tokens) logprobs.push_back(each.logprob);
      EXPECT_TRUE(text.starts_with(of_tokens)) << "a token comes no sooner than its text";
    }
    EXPECT_EQ(text, "oneéENx");
    EXPECT_THAT(logprobs, ::testing::ElementsAre(-1, -2, -3, -4, -5, -6, -7)) << size;
  }
}

TEST(ChoiceStream, TokensOfAStopStringComeAtTheEnd) {
  const std::vector<TokenText> all = {{"a", -1}, {"E", -2}, {"ND", -3}, {"b", -4}};
  const auto parts = parts_of(all, 1);
  EXPECT_THAT(parts[0].tokens, ::testing::SizeIs(1));
  EXPECT_THAT(parts[1].tokens, ::testing::IsEmpty());
  EXPECT_THAT(parts.back().tokens, ::testing::SizeIs(3));
  EXPECT_EQ(parts[0].text + parts[1].text + parts[2].text + parts[3].text, "a");
}

class LogProbabilities : public ::testing::Test {
 protected:
  std::string answer(ReplyKind kind, const std::string& more) {
    const std::string body = R"({"model": "m", "prompt": "add", "max_tokens": 20, "stop": "END",
        "messages": [{"role": "user", "content": "add"}])" +
                             more + "}";
    const ServedModel served{.name = "m", .model = model_, .tokenizer = &tokenizer_};
    auto reply = kind == ReplyKind::chat
                     ? answer_chat(served, *parse_chat_call(body, {}))
                     : answer_completion(served, *parse_completion_call(body, {}));
    EXPECT_TRUE(reply.has_value());
    std::string out;
    while ((*reply)->next(out, Deadline::in_seconds(10)) == ReplyStream::State::more) continue;
    return out;
  }
  // All choices of a stream's parts.
  std::vector<Json> streamed(ReplyKind kind, const std::string& more) {
    std::vector<Json> choices;
    EventStreamReader reader([&](const ServerEvent& event) {
      if (event.data == "[DONE]") return;
      const Json part = Json::parse(event.data);
      for (const Json& each : part["choices"]) choices.push_back(each);
    });
    EXPECT_TRUE(reader.feed(answer(kind, R"(, "stream": true)" + more)));
    return choices;
  }

  text::Tokenizer tokenizer_ = text::small_tokenizer();
  text::ChatTemplate chat_ = *text::ChatTemplate::make(tokenizer_);
  std::atomic<int> interruptions_ = 0;
  generate::TokenWriter writer_{std::make_unique<SteppingEngine>(
                                    [this] {
                                      auto tokens = tokenizer_.encode("é = EN 2");
                                      tokens.push_back(chat_.stop_token());
                                      return tokens;
                                    }(),
                                    interruptions_),
                                generate::ChatCodec(tokenizer_, chat_)};
  SharedModel model_{writer_, &writer_};
};

TEST_F(LogProbabilities, OfAStreamedChatAreThoseOfTheWholeOne) {
  const Json whole = Json::parse(answer(ReplyKind::chat, R"(, "logprobs": true)"));
  Json content = Json::array();
  int parts = 0;
  for (const Json& choice : streamed(ReplyKind::chat, R"(, "logprobs": true)")) {
    const bool has_text = !choice["delta"].value("content", "").empty();
    parts += has_text && choice["logprobs"].is_object();
    if (!choice["logprobs"].is_object()) continue;
    for (const Json& each : choice["logprobs"]["content"]) content.push_back(each);
  }
  EXPECT_GE(parts, 1) << "they come with the text";
  EXPECT_EQ(content, whole["choices"][0]["logprobs"]["content"]);
  EXPECT_EQ(content.front()["logprob"], -0.25);
}

TEST_F(LogProbabilities, OfAStreamedCompletionAreThoseOfTheWholeOne) {
  const Json whole = Json::parse(answer(ReplyKind::completion, R"(, "logprobs": 1)"));
  for (const char* name : {"tokens", "token_logprobs", "top_logprobs", "text_offset"}) {
    Json all = Json::array();
    for (const Json& choice : streamed(ReplyKind::completion, R"(, "logprobs": 1)"))
      if (choice["logprobs"].is_object())
        for (const Json& each : choice["logprobs"][name]) all.push_back(each);
    EXPECT_EQ(all, whole["choices"][0]["logprobs"][name]) << name;
  }
}

TEST_F(LogProbabilities, AreOnlyThereWhereACallAsks) {
  const auto choices = streamed(ReplyKind::chat, "");
  EXPECT_GE(choices.size(), 3U);
  for (const Json& choice : choices) EXPECT_TRUE(choice["logprobs"].is_null());
}

}  // namespace
}  // namespace tritonsmith::serve::openai
