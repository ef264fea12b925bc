#include "generate/api/protocol.h"

#include <gtest/gtest.h>

#include "generate/api/request_store.h"
#include "generate/api/retry.h"

namespace tritonsmith::generate {
namespace {

Json json_of(std::string_view text) { return *parse_json(text); }

const WriteRequest kRequest = {
    .messages = {{text::Role::system, "be brief"}, {text::Role::user, "hello"}},
    .sampling = {.temperature = 0.5, .top_k = 7, .max_new_tokens = 9, .stop = {"END"}},
    .seed = 0x1234567890ULL};

TEST(RequestBody, HasTheMessagesAndTheSampling) {
  EXPECT_EQ(request_body(kRequest, "m", {.stream = false}), json_of(R"({
    "model": "m", "temperature": 0.5, "top_p": 1.0, "top_k": 7, "max_tokens": 9, "stop": ["END"],
    "seed": 878082192, "stream": false,
    "messages": [{"role": "system", "content": "be brief"}, {"role": "user", "content": "hello"}]})"));
}

TEST(RequestBody, AdaptsToServersThatRefuseASetting) {
  const Json body = request_body(kRequest, "o",
                                 {.limit_name = "max_completion_tokens",
                                  .omit = {"temperature", "top_p", "top_k", "seed", "stop"},
                                  .extra = R"({"reasoning_effort": "low"})"});
  EXPECT_EQ(body, json_of(R"({
    "model": "o", "max_completion_tokens": 9, "stream": true,
    "stream_options": {"include_usage": true}, "reasoning_effort": "low",
    "messages": [{"role": "system", "content": "be brief"}, {"role": "user", "content": "hello"}]})"));
}

TEST(RequestBody, OfACompletionHasOneText) {
  const Json body = request_body(kRequest, "m", {.endpoint = ApiEndpoint::completions});
  EXPECT_EQ(body["prompt"], "be brief\n\nhello\n\n");
  EXPECT_FALSE(body.contains("messages"));
}

TEST(ReplyFromJson, KeepsReasoningApartUnderEveryNameInUse) {
  for (const char* message :
       {R"({"content": "text", "reasoning_content": "think"})",
        R"({"content": "text", "reasoning": "think"})",
        R"({"content": [{"type": "thinking", "thinking": [{"type": "text", "text": "think"}]},
                        {"type": "text", "text": "text"}]})"}) {
    const auto reply = reply_from_json({{"choices", {{{"message", json_of(message)}}}}});
    ASSERT_TRUE(reply.has_value()) << message;
    EXPECT_EQ(reply->text, "text");
    EXPECT_EQ(reply->reasoning, "think");
  }
}

TEST(ReplyFromJson, ReadsUsageAndFinishReason) {
  const auto reply = reply_from_json(json_of(R"({
    "model": "m-2026", "choices": [{"text": "x", "finish_reason": "length"}],
    "usage": {"prompt_tokens": 9, "completion_tokens": 5,
              "prompt_tokens_details": {"cached_tokens": 3},
              "completion_tokens_details": {"reasoning_tokens": 2}}})"));
  ASSERT_TRUE(reply.has_value());
  EXPECT_EQ(reply->finish, FinishReason::length);
  EXPECT_EQ(reply->usage, (Usage{.prompt_tokens = 9,
                                 .cached_prompt_tokens = 3,
                                 .completion_tokens = 5,
                                 .reasoning_tokens = 2}));
  const auto again = stored_reply(to_json(*reply));
  ASSERT_TRUE(again.has_value());
  EXPECT_EQ(to_json(*again), to_json(*reply));
}

TEST(RequestBody, AsksForLogProbabilitiesAsEachEndpointWants) {
  EXPECT_EQ(request_body(kRequest, "m", {.logprobs = true})["logprobs"], true);
  EXPECT_EQ(request_body(kRequest, "m",
                         {.endpoint = ApiEndpoint::completions, .logprobs = true})["logprobs"],
            1);
  EXPECT_FALSE(request_body(kRequest, "m", {}).contains("logprobs"));
}

TEST(ReplyFromJson, ReadsTheTokensOfChatsAndCompletions) {
  const auto chat = reply_from_json(json_of(R"({"choices": [{
    "message": {"content": "ab"}, "token_ids": [7, 8],
    "logprobs": {"content": [{"token": "a", "logprob": -0.5}, {"token": "b", "logprob": -2}]}}]})"));
  ASSERT_TRUE(chat.has_value());
  EXPECT_EQ(chat->logprobs, (std::vector<float>{-0.5F, -2}));
  const auto completion = reply_from_json(json_of(R"({"choices": [{
    "text": "ab", "token_ids": [7, 8], "logprobs": {"token_logprobs": [-0.5, null]}}]})"));
  ASSERT_TRUE(completion.has_value());
  EXPECT_EQ(completion->logprobs, (std::vector<float>{-0.5F, 0}));
  EXPECT_EQ(completion->tokens, (std::vector<TokenId>{7, 8}));
  const auto again = stored_reply(to_json(*completion));
  ASSERT_TRUE(again.has_value());
  EXPECT_EQ(to_json(*again), to_json(*completion));
}

TEST(ReplyFromJson, DropsIdsThatNameNoTokensOfIts) {
  for (const char* ids : {"[7]", "[7, -1]", "[7, 8e30]", "[7, \"x\"]", "\"no\""}) {
    const auto reply =
        reply_from_json(json_of(fmt::format(R"({{"choices": [{{"text": "ab", "token_ids": {},
                         "logprobs": {{"token_logprobs": [-1, -2]}}}}]}})",
                                            ids)));
    ASSERT_TRUE(reply.has_value()) << ids;
    EXPECT_EQ(reply->logprobs.size(), 2U);
    EXPECT_TRUE(reply->tokens.empty()) << ids;
  }
}

TEST(StreamedReply, CollectsTheTokensOfAllPieces) {
  StreamedReply stream(nullptr);
  for (const char* data :
       {R"({"choices": [{"delta": {"content": "a"}, "logprobs": {"content": [{"logprob": -1}]}}]})",
        R"({"choices": [{"delta": {"content": "b"}, "logprobs": {"content": [{"logprob": -2}]},
                         "finish_reason": "stop"}]})"})
    ASSERT_TRUE(stream.take({.data = data}));
  EXPECT_EQ(stream.finish()->logprobs, (std::vector<float>{-1, -2}));
}

TEST(ReplyFromJson, RefusesWhatIsNoAnswer) {
  for (const char* text : {"[]", "{}", R"({"choices": []})", R"({"choices": [{}]})",
                           R"({"choices": [{"text": "x", "finish_reason": "error"}]})"})
    EXPECT_FALSE(reply_from_json(json_of(text)).has_value()) << text;
}

TEST(ErrorIn, ReadsTheFormsOfManyServers) {
  for (const char* text :
       {R"({"error": {"message": "no", "code": "c"}})", R"({"error": "no"})",
        R"({"object": "error", "message": "no", "type": "c"})", R"({"detail": "no"})"}) {
    const auto error = error_in(json_of(text));
    ASSERT_TRUE(error.has_value()) << text;
    EXPECT_EQ(error->message, "no");
  }
  EXPECT_FALSE(error_in(json_of(R"({"choices": []})")).has_value());
}

TEST(After, ARepetitionIsDecidedByStatusAndCode) {
  for (const int status : {0, 408, 409, 425, 429, 500, 502, 503, 529})
    EXPECT_EQ(after({.status = status}), AfterFailure::ask_again) << status;
  for (const int status : {400, 401, 403, 404, 405, 422})
    EXPECT_EQ(after({.status = status}), AfterFailure::give_up) << status;
  EXPECT_EQ(after({.status = 0, .is_final = true}), AfterFailure::give_up);
  EXPECT_EQ(after({.status = 400, .code = "context_length_exceeded"}), AfterFailure::finish_cut);
}

TEST(WaitSeconds, DoublesUpToTheLongestAndHonoursTheServer) {
  const ApiConfig config{.first_wait_seconds = 1, .longest_wait_seconds = 10};
  EXPECT_EQ(wait_seconds({}, 1, config, 0), 1);
  EXPECT_EQ(wait_seconds({}, 3, config, 0), 4);
  EXPECT_EQ(wait_seconds({}, 3, config, 0.5), 3);
  EXPECT_EQ(wait_seconds({}, 2000, config, 0), 10);
  EXPECT_EQ(wait_seconds({.retry_after_seconds = 90}, 1, config, 0), 90);
}

TEST(RetryAfter, ReadsSecondsMillisecondsAndDates) {
  EXPECT_EQ(retry_after_seconds("7", "", 0), 7);
  EXPECT_EQ(retry_after_seconds("7", "250", 0), 0.25);
  EXPECT_EQ(retry_after_seconds("Thu, 01 Jan 1970 00:01:40 GMT", "", 40), 60);
  EXPECT_EQ(retry_after_seconds("Thu, 01 Jan 1970 00:01:40 GMT", "", 400), 0);
  for (const char* other : {"", "soon", "-3", "nan"})
    EXPECT_FALSE(retry_after_seconds(other, "", 0).has_value()) << other;
}

TEST(ParseApiUrl, AddsTheUsualPath) {
  const auto plain = parse_api_url("http://127.0.0.1:8000");
  ASSERT_TRUE(plain.has_value());
  EXPECT_EQ(plain->origin + plain->path, "http://127.0.0.1:8000/v1");
  const auto deep = parse_api_url("https://host/openai/v1/");
  ASSERT_TRUE(deep.has_value());
  EXPECT_EQ(deep->path, "/openai/v1");
  for (const char* other :
       {"", "host:80", "ftp://host", "http://", "http://u:p@host", "http://host/v1?a=b",
        "http://host?a=b", "http://host#a", "http://ho st"})
    EXPECT_FALSE(parse_api_url(other).has_value()) << other;
}

TEST(ParseApiUrl, KnowsWhereAKeyCanBeOverheard) {
  EXPECT_TRUE(parse_api_url("http://10.0.0.1:80")->is_open_to_listeners());
  EXPECT_FALSE(parse_api_url("http://127.0.0.1:80")->is_open_to_listeners());
  EXPECT_FALSE(parse_api_url("https://10.0.0.1")->is_open_to_listeners());
}

TEST(CostOf, PricesCachedTokensApart) {
  const Usage usage{
      .prompt_tokens = 3'000'000, .cached_prompt_tokens = 1'000'000, .completion_tokens = 500'000};
  EXPECT_DOUBLE_EQ(cost_of(usage, {.input = 2, .cached_input = 0.5, .output = 8}), 8.5);
  EXPECT_DOUBLE_EQ(cost_of(usage, {.input = 2, .output = 8}), 10);
}

TEST(RequestKey, DependsOnTheContentAndNotOnTheWayOfSending) {
  const Json body = request_body(kRequest, "m", {});
  const Json whole = request_body(kRequest, "m", {.stream = false});
  EXPECT_EQ(request_key("u", body, 1), request_key("u", whole, 1));
  EXPECT_NE(request_key("u", body, 1), request_key("u", body, 2));
  EXPECT_NE(request_key("u", body, 1), request_key("v", body, 1));
}

}  // namespace
}  // namespace tritonsmith::generate
