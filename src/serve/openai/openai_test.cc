#include <gtest/gtest.h>

#include "generate/testing/scripted_writer.h"
#include "serve/openai/call.h"
#include "serve/openai/model_reply.h"
#include "serve/openai/stop_cutter.h"
#include "serve/openai/testing/stepping_engine.h"
#include "text/testing/small_tokenizer.h"

namespace tritonsmith::serve::openai {
namespace {

std::string chat_body(const std::string& more) {
  return R"({"model": "m", "messages": [{"role": "user", "content": "hello"}])" + more + "}";
}

std::string parameter_refused(const std::string& more) {
  const auto call = parse_chat_call(chat_body(more), {});
  EXPECT_FALSE(call.has_value()) << more;
  return call ? "" : call.error().parameter;
}

TEST(ParseChatCall, ReadsEverySettingThatWeHonour) {
  const auto call = parse_chat_call(
      R"({"model": "m", "messages": [
            {"role": "developer", "content": "be brief"},
            {"role": "user", "content": [{"type": "text", "text": "he"}, {"type": "text", "text": "llo"}]}],
          "temperature": 0.5, "top_p": 0.9, "max_completion_tokens": 7, "stop": ["A", ""], "n": 3,
          "seed": -1, "stream": true, "stream_options": {"include_usage": true}, "logprobs": true,
          "user": "me", "presence_penalty": 0, "tools": []})",
      {});
  ASSERT_TRUE(call.has_value()) << call.error().message;
  EXPECT_EQ(call->messages, (std::vector<text::Message>{{text::Role::system, "be brief"},
                                                        {text::Role::user, "hello"}}));
  EXPECT_EQ(call->sampling.max_new_tokens, 7);
  EXPECT_EQ(call->sampling.stop, std::vector<std::string>{"A"});
  EXPECT_EQ(call->choices, 3);
  EXPECT_TRUE(call->is_streamed && call->has_usage && call->has_logprobs && call->seed);
}

TEST(ParseChatCall, RefusesWhatItCannotHonourAndNamesTheMember) {
  const std::vector<std::pair<std::string, std::string>> wrong = {
      {"temperature", "-1"},
      {"top_p", "2"},
      {"n", "0"},
      {"n", "1000"},
      {"stop", "7"},
      {"max_tokens", "0"},
      {"seed", "1.5"},
      {"stream", "\"yes\""},
      {"tools", "7"},
      {"tool_choice", "\"required\""},
      {"tool_choice", R"({"type": "function", "function": {"name": "read"}})"},
      {"function_call", R"({"name": "read"})"},
      {"logit_bias", R"({"7": 1})"},
      {"presence_penalty", "1"},
      {"top_logprobs", "3"},
      {"response_format", R"({"type": "json_object"})"},
      {"response_format", R"({"type": 7})"},
      {"response_format", "\"text\""}};
  for (const auto& [name, value] : wrong)
    EXPECT_EQ(parameter_refused(fmt::format(R"(, "{}": {})", name, value)), name);
}

TEST(ParseChatCall, TakesWhatTheAgentModesOfEditorsSend) {
  const auto call = parse_chat_call(
      chat_body(R"(, "tools": [{"type": "function", "function": {"name": "read_file"}}],
          "tool_choice": "auto", "parallel_tool_calls": true, "stream_options": {"include_usage": true},
          "store": false, "metadata": {"editor": "e"}, "user": "u", "reasoning_effort": "low",
          "service_tier": "auto", "verbosity": "low", "safety_identifier": "s", "prompt_cache_key": "k",
          "logit_bias": {}, "response_format": {"type": "text"})"),
      {});
  ASSERT_TRUE(call.has_value()) << call.error().message;
  EXPECT_EQ(call->messages, (std::vector<text::Message>{{text::Role::user, "hello"}}));
  EXPECT_TRUE(parse_chat_call(chat_body(R"(, "tools": null, "tool_choice": "none")"), {}));
}

TEST(ParseChatCall, TurnsCallsOfToolsAndTheirResultsIntoText) {
  const auto call = parse_chat_call(R"({"model": "m", "messages": [
      {"role": "user", "content": "compare"},
      {"role": "assistant", "content": null, "tool_calls": [
          {"id": "1", "type": "function", "function": {"name": "read", "arguments": "{\"path\": \"a\"}"}},
          {"id": "2", "type": "function", "function": {"name": "list", "arguments": "no JSON"}}]},
      {"role": "tool", "tool_call_id": "1", "content": "one"},
      {"role": "tool", "tool_call_id": "2", "content": [{"type": "text", "text": "two"}]},
      {"role": "assistant", "content": "Hm.", "function_call": {"name": "list", "arguments": ""}},
      {"role": "function", "name": "list", "content": null}]})",
                                    {});
  ASSERT_TRUE(call.has_value()) << call.error().message;
  using text::Role;
  EXPECT_EQ(call->messages,
            (std::vector<text::Message>{
                {Role::user, "compare"},
                {Role::assistant,
                 "<tool_call>\n{\"arguments\":{\"path\":\"a\"},\"name\":\"read\"}\n</tool_call>\n"
                 "<tool_call>\n{\"arguments\":\"no JSON\",\"name\":\"list\"}\n</tool_call>"},
                {Role::user,
                 "<tool_response>\none\n</tool_response>\n<tool_response>\ntwo\n</tool_response>"},
                {Role::assistant,
                 "Hm.\n<tool_call>\n{\"arguments\":\"\",\"name\":\"list\"}\n</tool_call>"},
                {Role::user, "<tool_response>\n\n</tool_response>"}}));
}

TEST(ParseChatCall, SaysWhatToDoInsteadOfAskingForJson) {
  const auto call =
      parse_chat_call(chat_body(R"(, "response_format": {"type": "json_object"})"), {});
  ASSERT_FALSE(call.has_value());
  EXPECT_NE(call.error().message.find("ask for JSON in a message"), std::string::npos);
}

TEST(ParseChatCall, RefusesBodiesAndMessagesThatAreNone) {
  for (const char* body :
       {"", "[]", R"({"model": "m"})", R"({"model": "m", "messages": []})",
        R"({"model": "m", "messages": [{"role": "robot", "content": "x"}]})",
        R"({"model": "m", "messages": [{"role": "user", "content": null}]})",
        R"({"model": "m", "messages": [{"role": "assistant", "tool_calls": [{"id": "1"}]},
                                       {"role": "user", "content": "x"}]})",
        R"({"model": "m", "messages": [{"role": "user", "content": [{"type": "image_url"}]}]})",
        R"({"model": "m", "messages": [{"role": "assistant", "content": "x"}]})"})
    EXPECT_FALSE(parse_chat_call(body, {}).has_value()) << body;
}

TEST(ParseCompletionCall, TakesTextAndTokenIdsAloneOrInLists) {
  for (const auto& [prompt, count] : std::vector<std::pair<std::string, std::size_t>>{
           {R"("text")", 1}, {"[1, 2]", 1}, {R"(["a", "b"])", 2}, {"[[1], [2, 3]]", 2}}) {
    const auto call =
        parse_completion_call(fmt::format(R"({{"model": "m", "prompt": {}}})", prompt), {});
    ASSERT_TRUE(call.has_value()) << prompt;
    EXPECT_EQ(call->prompts.size(), count);
  }
  for (const char* prompt : {R"("")", "[]", "[-1]", "[1.5]", R"(["a", 1])", "[[]]", "7", "null"})
    EXPECT_FALSE(
        parse_completion_call(fmt::format(R"({{"model": "m", "prompt": {}}})", prompt), {}))
        << prompt;
  for (const char* prompt : {R"("")", R"(["a", ""])"}) {
    const auto call =
        parse_completion_call(fmt::format(R"({{"model": "m", "prompt": {}}})", prompt), {});
    EXPECT_EQ(call.error().message, "'prompt' is empty: it must hold at least one token");
  }
}

TEST(StopCutter, CutsBeforeTheStopStringHoweverTheTextComes) {
  const std::string text = "one END two";
  for (std::size_t size = 1; size <= text.size(); ++size) {
    StopCutter cutter({"END", "NEVER"});
    std::string shown;
    for (std::size_t at = 0; at < text.size(); at += size)
      shown += cutter.push(text.substr(at, size));
    EXPECT_EQ(shown + cutter.finish(), "one ") << size;
  }
  StopCutter open({"END"});
  EXPECT_EQ(open.push("one EN"), "one ");
  EXPECT_EQ(open.finish(), "EN");
}

TEST(SharedModel, ServesManyClientsAtOnce) {
  generate::ScriptedWriter writer(
      [](const generate::WriteRequest& request) { return "re: " + request.messages[0].content; });
  SharedModel model(writer);
  std::vector<std::jthread> threads;
  std::atomic<int> good = 0;
  for (int i = 0; i < 8; ++i)
    threads.emplace_back([&, i] {
      const auto client = model.connect();
      for (std::uint64_t id = 0; id < 20; ++id) {
        std::string pieces;
        const std::string content = fmt::format("{}-{}", i, id);
        const Status status =
            client->submit({.id = id,
                            .messages = {{text::Role::user, content}},
                            .on_text = [&](std::string_view piece) { pieces += piece; }});
        const auto written = client->next();
        good += status && written && *written && (*written)->completion.text == "re: " + content &&
                pieces == "re: " + content;
      }
    });
  threads.clear();
  EXPECT_EQ(good, 160);
  EXPECT_EQ(model.load().finished, 160U);
  EXPECT_EQ(model.load().running, 0U);
}

// Never finishes a request, and remembers which were cancelled.
class EndlessWriter : public generate::Writer {
 public:
  Status submit(generate::WriteRequest request) override {
    on_text = request.on_text;
    return ok();
  }
  Result<std::optional<generate::Written>> next_by(Deadline) override {
    if (on_text) on_text("more ");
    if (fails) return fail("the weights are gone");
    return std::optional<generate::Written>();
  }
  void cancel(std::uint64_t id) override { cancelled.push_back(id); }
  bool recover() override { return recovers; }

  std::function<void(std::string_view)> on_text;
  std::vector<std::uint64_t> cancelled;
  std::atomic<bool> fails = false, recovers = false;
};

TEST(SharedModel, AClientsEndCancelsItsRequests) {
  EndlessWriter writer;
  {
    SharedModel model(writer);
    const auto client = model.connect();
    ASSERT_TRUE(
        client->submit(generate::WriteRequest{.id = 7, .on_text = [](std::string_view) {}}));
    const auto event = client->next_event(Deadline::never());
    ASSERT_TRUE(event && *event);
    EXPECT_TRUE((*event)->piece.starts_with("more "));
  }
  EXPECT_EQ(writer.cancelled.size(), 1U);
}

// Begins each text with three pieces at once, and finishes none.
class BurstWriter : public EndlessWriter {
 public:
  Status submit(generate::WriteRequest request) override {
    for (const char* piece : {"a", "b", "c"}) request.on_text(piece);
    return ok();
  }
};

TEST(SharedModel, PiecesThatCameTogetherAreReadTogether) {
  BurstWriter writer;
  SharedModel model(writer);
  const auto client = model.connect();
  ASSERT_TRUE(client->submit(generate::WriteRequest{.id = 7, .on_text = [](std::string_view) {}}));
  const auto event = client->next_event(Deadline::never());
  ASSERT_TRUE(event && *event);
  EXPECT_EQ((*event)->piece, "abc");
  const auto later = client->next_event(Deadline::after(Milliseconds(0)));
  EXPECT_TRUE(later && !*later);
}

TEST(SharedModel, ManyClientsOfFewProcessorsGetLongerPieces) {
  EXPECT_EQ(between_pieces(1, 2), Milliseconds(50));
  EXPECT_EQ(between_pieces(25, 2), Milliseconds(100));
  EXPECT_EQ(between_pieces(64, 2), Milliseconds(250));
  EXPECT_EQ(between_pieces(64, 16), Milliseconds(50));
  EXPECT_EQ(between_pieces(160, 16), Milliseconds(80));
  EXPECT_EQ(between_pieces(1, 0), Milliseconds(50)) << "the number is unknown";
}

TEST(SharedModel, ABrokenWriterIsReportedToEveryClient) {
  EndlessWriter writer;
  SharedModel model(writer);
  const auto one = model.connect(), other = model.connect();
  ASSERT_TRUE(one->submit(generate::WriteRequest{.id = 1}));
  writer.fails = true;
  const auto written = one->next();
  ASSERT_FALSE(written.has_value());
  EXPECT_EQ(written.error().message, "the weights are gone");
  EXPECT_FALSE(other->submit(generate::WriteRequest{.id = 1}).has_value());
}

TEST(SharedModel, AWriterThatRecoversIsTriedAgain) {
  EndlessWriter writer;
  SharedModel model(writer);
  writer.fails = writer.recovers = true;
  const auto one = model.connect();
  ASSERT_TRUE(one->submit(generate::WriteRequest{.id = 1}));
  EXPECT_FALSE(one->next().has_value());
  ASSERT_TRUE(model.error().has_value());
  EXPECT_EQ(model.error()->message, "the weights are gone");
  writer.fails = false;
  const auto other = model.connect();
  EXPECT_FALSE(other->submit(generate::WriteRequest{.id = 1}).has_value());
  std::this_thread::sleep_for(Milliseconds(3100));
  ASSERT_TRUE(other->submit(generate::WriteRequest{.id = 1}));
  const auto written = other->next_by(Deadline::after(Milliseconds(30)));
  EXPECT_TRUE(written.has_value());
}

TEST(SharedModel, TurnsTokensIntoTextForItsClients) {
  const text::Tokenizer tokenizer = text::small_tokenizer();
  const text::ChatTemplate chat = *text::ChatTemplate::make(tokenizer);
  std::vector<TokenId> answer = tokenizer.encode("é");
  ASSERT_GT(answer.size(), 1U) << "a character of several tokens";
  std::ranges::copy(text::byte_tokens(tokenizer, " = END 2"), std::back_inserter(answer));
  answer.push_back(chat.stop_token());
  std::atomic<int> interruptions = 0;
  generate::TokenWriter writer(std::make_unique<SteppingEngine>(answer, interruptions),
                               generate::ChatCodec(tokenizer, chat));
  SharedModel model(writer, &writer);
  std::vector<std::jthread> threads;
  for (const std::string stop : {"", "END"})
    threads.emplace_back([&, stop] {
      const std::vector<text::Message> messages = {{text::Role::user, "add"}};
      const std::string expected = stop.empty() ? "é = END 2" : "é = END";
      for (std::uint64_t id = 0; id < 100; ++id) {
        const auto client = model.connect();
        std::string pieces;
        ASSERT_TRUE(client->submit({.id = id,
                                    .messages = messages,
                                    .sampling = {.stop = {stop}},
                                    .on_text = [&](std::string_view piece) { pieces += piece; }}));
        const auto written = client->next();
        ASSERT_TRUE(written && *written);
        EXPECT_EQ((*written)->id, id);
        EXPECT_EQ((*written)->completion.text, expected);
        EXPECT_EQ((*written)->completion.prompt, chat.prompt_tokens(messages));
        EXPECT_EQ(pieces, expected);
        EXPECT_FALSE(client->has_room(messages, {.max_new_tokens = 60}));
        EXPECT_TRUE(client->has_room(messages, {.max_new_tokens = 1}));
      }
    });
  threads.clear();
  EXPECT_EQ(model.load().finished, 200U);
  EXPECT_GE(interruptions, 200) << "a request does not wait for others";
}

std::string all_of(ReplyStream& stream) {
  std::string out;
  while (stream.next(out, Deadline::in_seconds(10)) == ReplyStream::State::more) continue;
  return out;
}

TEST(AnswerChat, TakesTheModelsLimitWhereTheCallHasNone) {
  int asked = 0;
  generate::ScriptedWriter writer([&](const generate::WriteRequest& request) {
    asked = request.sampling.max_new_tokens;
    return "yes";
  });
  SharedModel model(writer);
  for (const auto& [more, expected] :
       std::vector<std::pair<std::string, int>>{{"", 77}, {R"(, "max_tokens": 5)", 5}}) {
    auto answer = answer_chat({.name = "m", .model = model, .default_tokens = 77},
                              *parse_chat_call(chat_body(more), {}));
    ASSERT_TRUE(answer.has_value());
    all_of(**answer);
    EXPECT_EQ(asked, expected);
  }
}

TEST(AnswerChat, GivesChoicesUsageAndTheTextBeforeTheStopString) {
  generate::ScriptedWriter writer([](const generate::WriteRequest&) { return "good END bad"; });
  SharedModel model(writer);
  auto call = parse_chat_call(chat_body(R"(, "n": 2, "stop": "END")"), {});
  ASSERT_TRUE(call.has_value());
  auto answer = answer_chat({.name = "m", .model = model}, *call);
  ASSERT_TRUE(answer.has_value());
  const Json json = Json::parse(all_of(**answer));
  ASSERT_EQ(json["choices"].size(), 2U);
  EXPECT_EQ(json["choices"][1]["message"]["content"], "good ");
  EXPECT_EQ(json["choices"][1]["index"], 1);
  EXPECT_EQ(json["usage"]["completion_tokens"], 6);  // both choices, in words
  EXPECT_EQ(json["usage"]["prompt_tokens"], json["usage"]["total_tokens"].get<int>() - 6);
}

TEST(AnswerChat, RefusesLogProbabilitiesOfAModelWithoutTokens) {
  generate::ScriptedWriter writer([](const generate::WriteRequest&) { return "yes"; });
  SharedModel model(writer);
  const auto answer = answer_chat({.name = "m", .model = model},
                                  *parse_chat_call(chat_body(R"(, "logprobs": true)"), {}));
  ASSERT_FALSE(answer.has_value());
  EXPECT_EQ(answer.error().parameter, "logprobs");
}

TEST(AnswerChat, EndsAStreamWithTheReasonWhenTheModelFails) {
  EndlessWriter writer;
  SharedModel model(writer);
  auto answer = answer_chat({.name = "m", .model = model},
                            *parse_chat_call(chat_body(R"(, "stream": true)"), {}));
  ASSERT_TRUE(answer.has_value());
  writer.fails = true;
  const std::string events = all_of(**answer);
  EXPECT_NE(events.find(R"("message":"the weights are gone")"), std::string::npos) << events;
  EXPECT_FALSE(events.ends_with(kStreamEnd));
}

TEST(AnswerChat, StreamsTheSameText) {
  generate::ScriptedWriter writer([](const generate::WriteRequest&) { return "good END bad"; });
  SharedModel model(writer);
  auto call = parse_chat_call(
      chat_body(R"(, "stop": "END", "stream": true, "stream_options": {"include_usage": true})"),
      {});
  ASSERT_TRUE(call.has_value());
  auto answer = answer_chat({.name = "m", .model = model}, *call);
  ASSERT_TRUE(answer.has_value());
  const std::string events = all_of(**answer);
  EXPECT_NE(events.find(R"("content":"good ")"), std::string::npos) << events;
  EXPECT_EQ(events.find("bad"), std::string::npos);
  EXPECT_NE(events.find(R"("finish_reason":"stop")"), std::string::npos);
  EXPECT_NE(events.find(R"("total_tokens")"), std::string::npos);
  EXPECT_TRUE(events.ends_with(kStreamEnd));
}

}  // namespace
}  // namespace tritonsmith::serve::openai
