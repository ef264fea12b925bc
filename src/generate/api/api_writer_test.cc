#include "generate/api/api_writer.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>

#include "base/file.h"
#include "base/temp_dir.h"
#include "generate/api/testing/fake_api_server.h"

namespace tritonsmith::generate {
namespace {

ApiConfig config_for(const FakeApiServer& server) {
  return {.base_url = server.url(),
          .attempts = 3,
          .first_wait_seconds = 0.001,
          .longest_wait_seconds = 0.002};
}

WriteRequest request_of(std::uint64_t id, const std::string& content) {
  return {.id = id,
          .messages = {{text::Role::user, content}},
          .sampling = {.max_new_tokens = 8},
          .seed = id};
}

std::unique_ptr<ApiWriter> writer_of(const ApiConfig& config,
                                     const std::filesystem::path& store = {}) {
  auto writer = ApiWriter::open(config, "small", store);
  EXPECT_TRUE(writer.has_value()) << (writer ? "" : writer.error().message);
  return writer ? *std::move(writer) : nullptr;
}

// The text of the answer to one request, or the error.
Result<std::string> text_from(ApiWriter& writer, const std::string& content) {
  TRY(writer.submit(request_of(1, content)));
  TRY_ASSIGN(auto written, writer.next_by(Deadline::in_seconds(20)));
  if (!written) return fail("no completion");
  return written->completion.text;
}

std::string error_from(FakeApiServer& server) {
  const auto writer = writer_of(config_for(server));
  const auto text = text_from(*writer, "hello");
  EXPECT_FALSE(text.has_value());
  return text ? *text : text.error().message;
}

TEST(ApiWriter, WritesWithManyRequestsInFlight) {
  std::atomic<int> now = 0, most = 0;
  FakeApiServer server([&](const Asked& asked, httplib::Response& response) {
    most = std::max<int>(most, ++now);
    stream_text(response, "re: " + asked.body["messages"][0]["content"].get<std::string>());
    --now;
  });
  ApiConfig config = config_for(server);
  config.requests = 3;
  const auto writer = writer_of(config);
  for (std::uint64_t id = 0; id < 20; ++id)
    ASSERT_TRUE(writer->submit(request_of(id, fmt::format("m{}", id))));
  std::map<std::uint64_t, std::string> texts;
  while (const auto written = writer->next()) {
    if (!*written) break;
    texts[(*written)->id] = (*written)->completion.text;
  }
  ASSERT_EQ(texts.size(), 20U);
  for (const auto& [id, text] : texts) EXPECT_EQ(text, fmt::format("re: m{}", id));
  EXPECT_LE(most, 3);
  EXPECT_EQ(writer->context_length(), 4096);
}

TEST(ApiWriter, AsksAgainAfterEveryFaultThatPasses) {
  FakeApiServer server([](const Asked& asked, httplib::Response& response) {
    switch (asked.number) {
      case 0:
        return refuse(response, 500, "", "oops");
      case 1:
        return stream(response, {event_of(piece_of("lost"))}, false);
      case 2:
        return response.set_content("{\"choices\":[", "application/json");
      case 3:
        return stream(response, {"data: {not json}\n\n"});
      case 4:
        return stream(response, {event_of({{"error", {{"message", "engine died"}}}})});
      case 5:
        return stream(response, {event_of(piece_of("x")), event_of(end_of("abort"))});
      default:
        return stream_text(response, "good");
    }
  });
  ApiConfig config = config_for(server);
  config.attempts = 10;
  EXPECT_EQ(text_from(*writer_of(config), "hello"), "good");
  EXPECT_EQ(server.asked().size(), 7U);
}

TEST(ApiWriter, WaitsAsLongAsABusyServerAsksWithoutCountingAttempts) {
  FakeApiServer server([](const Asked& asked, httplib::Response& response) {
    if (asked.number >= 4) return stream_text(response, "good");
    response.set_header("retry-after-ms", "30");
    refuse(response, 429, "rate_limit_exceeded", "slow down");
  });
  const auto writer = writer_of(config_for(server));  // three attempts
  const Stopwatch watch;
  EXPECT_EQ(text_from(*writer, "hello"), "good");
  EXPECT_GE(watch.milliseconds(), 4 * 30);
}

TEST(ApiWriter, BreaksWhenAServerKeepsFailing) {
  FakeApiServer server([](const Asked&, httplib::Response& response) {
    refuse(response, 500, "", "out of\nmemory");
  });
  EXPECT_EQ(error_from(server),
            server.url().substr(0, server.url().size() - 3) +
                " failed 3 times, at last with: HTTP status 500: out of memory; attempts and "
                "patience_seconds allow more");
  EXPECT_EQ(server.asked().size(), 3U);
}

TEST(ApiWriter, RecoversWhenTheServerIsBack) {
  std::atomic<bool> is_away = true;
  FakeApiServer server([&](const Asked&, httplib::Response& response) {
    if (is_away) return refuse(response, 500, "", "away");
    stream_text(response, "good");
  });
  const auto writer = writer_of(config_for(server));
  EXPECT_FALSE(text_from(*writer, "hello").has_value());
  EXPECT_FALSE(writer->submit(request_of(2, "hello")).has_value());
  is_away = false;
  ASSERT_TRUE(writer->recover());
  EXPECT_EQ(text_from(*writer, "hello"), "good");
}

TEST(ApiWriter, DoesNotRecoverFromARefusal) {
  FakeApiServer server([](const Asked&, httplib::Response& response) {
    refuse(response, 429, "insufficient_quota", "pay first");
  });
  const auto writer = writer_of(config_for(server));
  EXPECT_FALSE(text_from(*writer, "hello").has_value());
  EXPECT_FALSE(writer->recover());
}

TEST(ApiWriter, BreaksAtOnceWhenNoRepetitionCanHelp) {
  FakeApiServer server([](const Asked&, httplib::Response& response) {
    refuse(response, 429, "insufficient_quota", "pay first");
  });
  EXPECT_NE(error_from(server).find("pay first"), std::string::npos);
  EXPECT_EQ(server.asked().size(), 1U);
}

TEST(ApiWriter, EndsAConversationThatIsTooLongOrThatTheServerRefuses) {
  FakeApiServer server([](const Asked& asked, httplib::Response& response) {
    if (asked.number == 0)
      return refuse(response, 400, "", "This model's maximum context length is 4096 tokens");
    refuse(response, 400, "content_filter", "no");
  });
  const auto writer = writer_of(config_for(server));
  for (const FinishReason reason : {FinishReason::length, FinishReason::filtered}) {
    ASSERT_TRUE(writer->submit(request_of(1, fmt::format("{}", name_of(reason)))));
    const auto written = writer->next();
    ASSERT_TRUE(written && *written);
    EXPECT_EQ((*written)->completion.finish, reason);
    EXPECT_EQ((*written)->completion.text, "");
  }
}

TEST(ApiWriter, NamesTheModelsThatThereAre) {
  FakeApiServer server([](const Asked&, httplib::Response&) {});
  const auto writer = ApiWriter::open(config_for(server), "smal", {});
  ASSERT_FALSE(writer.has_value());
  EXPECT_NE(writer.error().message.find("has no model 'smal'; did you mean 'small'?"),
            std::string::npos)
      << writer.error().message;
}

TEST(ApiWriter, SaysThatTheKeyIsRefused) {
  FakeApiServer server([](const Asked&, httplib::Response&) {});
  server.models_status = 401;
  server.models = R"({"error":{"message":"bad key"}})";
  const auto writer = ApiWriter::open(config_for(server), "small", {});
  ASSERT_FALSE(writer.has_value());
  EXPECT_NE(writer.error().message.find("refuses the key (HTTP status 401: bad key)"),
            std::string::npos)
      << writer.error().message;
}

TEST(ApiWriter, SaysThatTheKeyIsRefusedWhereTheListOfModelsIsOpen) {
  for (const int status : {401, 403}) {
    FakeApiServer server([status](const Asked&, httplib::Response& response) {
      refuse(response, status, "", "bad key");
    });
    const std::string error = error_from(server);
    EXPECT_NE(error.find(fmt::format("refuses the key (HTTP status {}: bad key); set $", status)),
              std::string::npos)
        << error;
    EXPECT_NE(error.find("key_file"), std::string::npos) << error;
  }
}

TEST(ApiWriter, AServerWithoutAListOfModelsIsTakenAtItsWord) {
  FakeApiServer server(
      [](const Asked&, httplib::Response& response) { stream_text(response, "good"); });
  server.models_status = 404;
  server.models = "not found";
  EXPECT_EQ(text_from(*writer_of(config_for(server)), "hello"), "good");
}

TEST(ApiWriter, NeverAsksTwiceForWhatIsStored) {
  FakeApiServer server([](const Asked& asked, httplib::Response& response) {
    stream_text(response, fmt::format("answer {}", asked.number));
  });
  const auto folder = TempDir::make("api");
  ASSERT_TRUE(folder.has_value());
  const auto file = std::filesystem::path(folder->path()) / "requests.sqlite";
  ApiConfig config = config_for(server);
  config.prices = {.input = 1000, .output = 5000};
  for (int run = 0; run < 2; ++run) {
    const auto writer = writer_of(config, file);
    EXPECT_EQ(text_from(*writer, "hello"), "answer 0");
    const auto spent = writer->spending();
    ASSERT_TRUE(spent.has_value());
    EXPECT_EQ(spent->to_text(),
              "1 request, 10 prompt tokens (0 cached), 4 completion tokens (0 of reasoning), "
              "cost 0.0300");
  }
  EXPECT_EQ(server.asked().size(), 1U);
  config.omit = {"seed"};
  const auto writer = writer_of(config, file);
  ASSERT_TRUE(writer->submit(request_of(2, "hello")));
  const auto other = writer->next();
  ASSERT_TRUE(other && *other);
  EXPECT_EQ((*other)->completion.text, "answer 1");  // another sample of the same conversation
}

TEST(ApiWriter, StopsAskingWhenTheCostLimitIsReached) {
  FakeApiServer server(
      [](const Asked&, httplib::Response& response) { stream_text(response, "dear"); });
  ApiConfig config = config_for(server);
  config.prices.output = 1e6;
  config.cost_limit = 3;
  const auto writer = writer_of(config);
  EXPECT_EQ(text_from(*writer, "a"), "dear");
  const auto text = text_from(*writer, "b");
  ASSERT_FALSE(text.has_value());
  EXPECT_NE(text.error().message.find("have cost 4.0000, and cost_limit is 3"), std::string::npos);
  EXPECT_EQ(server.asked().size(), 1U);
}

TEST(ApiWriter, TheKeyIsSentAndNeverStored) {
  FakeApiServer server(
      [](const Asked&, httplib::Response& response) { stream_text(response, "good"); });
  const auto folder = TempDir::make("api");
  ASSERT_TRUE(folder.has_value());
  const std::filesystem::path path = folder->path();
  ASSERT_TRUE(write_file_atomic(path / "key", "sk-secret-of-mine\n"));
  ApiConfig config = config_for(server);
  config.key_file = path / "key";
  {
    const auto writer = writer_of(config, path / "requests.sqlite");
    EXPECT_EQ(text_from(*writer, "hello"), "good");
  }
  EXPECT_EQ(server.asked().at(0).authorization, "Bearer sk-secret-of-mine");
  for (const auto& entry : std::filesystem::directory_iterator(path)) {
    if (entry.path().filename() == "key") continue;
    const auto bytes = read_file(entry.path());
    ASSERT_TRUE(bytes.has_value());
    EXPECT_EQ(bytes->find("sk-secret"), std::string::npos) << entry.path();
  }
}

TEST(ApiWriter, ShowsPiecesAndStartsOverAfterACut) {
  FakeApiServer server([](const Asked& asked, httplib::Response& response) {
    if (asked.number == 0) return stream(response, {event_of(piece_of("wrong"))}, false);
    stream(response,
           {event_of(piece_of("go")), event_of(piece_of("od")), event_of(end_of("stop"))});
  });
  const auto writer = writer_of(config_for(server));
  WriteRequest request = request_of(1, "hello");
  std::vector<std::string> seen;
  request.on_text = [&](std::string_view piece) { seen.emplace_back(piece); };
  request.on_restart = [&] { seen.emplace_back("RESTART"); };
  ASSERT_TRUE(writer->submit(std::move(request)));
  ASSERT_TRUE(writer->next());
  EXPECT_EQ(seen, (std::vector<std::string>{"wrong", "RESTART", "go", "od"}));
}

TEST(ApiWriter, CancelLeavesTheServerAtOnce) {
  std::atomic<bool> has_left = false;
  FakeApiServer server([&](const Asked&, httplib::Response& response) {
    response.set_chunked_content_provider(
        "text/event-stream",
        [](std::size_t, httplib::DataSink& sink) {
          const std::string event = event_of(piece_of("more "));
          return sink.is_writable() && sink.write(event.data(), event.size());
        },
        [&](bool) { has_left = true; });
  });
  const auto writer = writer_of(config_for(server));
  WriteRequest request = request_of(1, "hello");
  bool has_begun = false;
  request.on_text = [&](std::string_view) { has_begun = true; };
  request.on_restart = [] {};
  ASSERT_TRUE(writer->submit(std::move(request)));
  while (!has_begun) ASSERT_TRUE(writer->next_by(Deadline::after(Milliseconds(5))));
  writer->cancel(1);
  const auto nothing = writer->next();
  ASSERT_TRUE(nothing.has_value());
  EXPECT_FALSE(nothing->has_value());
  const Deadline end = Deadline::in_seconds(10);
  while (!has_left && !end.passed()) std::this_thread::yield();
  EXPECT_TRUE(has_left);
}

TEST(ApiWriter, AnAnswerThatDripsForTooLongIsAFault) {
  FakeApiServer server([&](const Asked&, httplib::Response& response) {
    response.set_chunked_content_provider(
        "text/event-stream", [](std::size_t, httplib::DataSink& sink) {
          const std::string event = event_of(piece_of("drip "));
          return sink.is_writable() && sink.write(event.data(), event.size());
        });
  });
  ApiConfig config = config_for(server);
  config.attempts = 1;
  config.request_seconds = 0.05;
  const auto text = text_from(*writer_of(config), "hello");
  ASSERT_FALSE(text.has_value());
  EXPECT_NE(text.error().message.find("no whole answer within request_seconds = 0.05"),
            std::string::npos)
      << text.error().message;
}

TEST(ApiWriter, AServerThatIsNotThereIsAFaultWithItsAddress) {
  const auto writer =
      ApiWriter::open({.base_url = "http://127.0.0.1:1", .connect_seconds = 1}, "small", {});
  ASSERT_FALSE(writer.has_value());
  EXPECT_EQ(writer.error().kind, ErrorKind::fault);
  EXPECT_NE(writer.error().message.find("no answer from http://127.0.0.1:1"), std::string::npos);
}

}  // namespace
}  // namespace tritonsmith::generate
