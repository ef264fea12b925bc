#include "gym/service/http/http_server.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <httplib.h>
#include <sys/socket.h>

#include <thread>

#include "base/clock.h"
#include "base/fd.h"
#include "gym/service/testing/service_fixture.h"

namespace tritonsmith::gym::service {
namespace {

constexpr const char* kToken = "a-token-of-some-length";
constexpr const char* kOtherToken = "another-token-of-that-length";

struct HttpServerTest : ServiceFixture {
  HttpServer& server() {
    if (!server_) {
      auto started = HttpServer::start(config, service(), metrics);
      EXPECT_TRUE(started) << started.error().message;
      server_ = *std::move(started);
    }
    return *server_;
  }
  httplib::Client client(const std::string& token = kToken) {
    httplib::Client client("127.0.0.1", server().port());
    if (!token.empty()) client.set_bearer_token_auth(token);
    return client;
  }
  // Returns the server's answer to raw bytes.
  std::string answer_to(const std::string& bytes) {
    const Fd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in address{.sin_family = AF_INET,
                        .sin_port = htons(static_cast<std::uint16_t>(server().port())),
                        .sin_addr = {htonl(INADDR_LOOPBACK)},
                        .sin_zero = {}};
    EXPECT_EQ(::connect(socket.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    EXPECT_EQ(::send(socket.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(bytes.size()));
    std::string answer;
    char buffer[4096];
    for (ssize_t got = 0; (got = ::recv(socket.get(), buffer, sizeof buffer, 0)) > 0;)
      answer.append(buffer, static_cast<std::size_t>(got));
    return answer;
  }

  HttpServerConfig config{.address = {.host = "127.0.0.1", .port = 0},
                          .tokens = {{.name = "all", .token = kToken}},
                          .body_bytes = 10'000};

 private:
  std::unique_ptr<HttpServer> server_;
};

TEST_F(HttpServerTest, AsksForTheTokenExceptAtPublicPaths) {
  EXPECT_EQ(client().Get("/v1/status")->status, 200);
  for (const char* wrong : {"", "another-token-of-some-length", "a-token-of-some-lengt"}) {
    const auto reply = client(wrong).Get("/v1/status");
    EXPECT_EQ(reply->status, 401);
    EXPECT_EQ(Json::parse(reply->body)["error"]["code"], "unauthorized");
    EXPECT_EQ(client(wrong).Get("/healthz")->status, 200);
    EXPECT_EQ(client(wrong).Get("/openapi.json")->status, 200);
  }
}

TEST_F(HttpServerTest, TakesTheTokenAsThePasswordOfAUrl) {
  const auto status_with = [&](const std::string& user, const std::string& password) {
    httplib::Client asking = client("");
    asking.set_basic_auth(user, password);
    return asking.Get("/v1/status")->status;
  };
  EXPECT_EQ(status_with("anybody", kToken), 200);
  EXPECT_EQ(status_with("", kToken), 200);
  EXPECT_EQ(status_with(kToken, ""), 401);
  EXPECT_EQ(status_with("anybody", "another-token-of-some-length"), 401);
  for (const char* odd : {"Basic ", "Basic !!!!", "Basic bm8gY29sb24=", "Digest x"})
    EXPECT_EQ(client("").Get("/v1/status", {{"Authorization", odd}})->status, 401) << odd;
}

TEST_F(HttpServerTest, GivesEachTokenItsOwnQuotas) {
  hold = true;
  config.tokens = {{.name = "ann", .token = kToken, .unfinished_jobs = 1},
                   {.name = "bob", .token = kOtherToken, .requests_per_minute = 2}};
  EXPECT_EQ(client().Post("/v1/jobs", job_json("a"), "")->status, 202);
  const auto full = client().Post("/v1/jobs", job_json("b"), "");
  EXPECT_EQ(full->status, 429);
  EXPECT_EQ(Json::parse(full->body)["error"]["code"], "quota_exceeded");
  EXPECT_NE(full->body.find("'ann'"), std::string::npos);
  EXPECT_EQ(client(kOtherToken).Post("/v1/jobs", job_json("b"), "")->status, 202) << "bob has room";
  EXPECT_EQ(client(kOtherToken).Get("/v1/status")->status, 200);
  const auto often = client(kOtherToken).Get("/v1/status");
  EXPECT_EQ(often->status, 429);
  EXPECT_EQ(Json::parse(often->body)["error"]["code"], "too_many_requests");
  EXPECT_GT(std::stoi(often->get_header_value("Retry-After")), 20);
  EXPECT_EQ(client(kOtherToken).Get("/readyz")->status, 200) << "what is public is not counted";
}

TEST_F(HttpServerTest, LogsEachRequestAsItIsTold) {
  std::mutex mutex;
  std::vector<std::string> lines;
  config.access_log = AccessLogForm::json;
  config.write_access_log = [&](const std::string& line) {
    const std::lock_guard lock(mutex);
    lines.push_back(line);
  };
  const auto logged = [&] {
    const std::lock_guard lock(mutex);
    return lines;
  };
  EXPECT_EQ(client().Get("/v1/jobs/0123?wait=1")->status, 404);
  EXPECT_EQ(client("").Get("/v1/status")->status, 401);
  // A reply may arrive before its line of the log is written.
  const Deadline soon = Deadline::after(std::chrono::seconds(10));
  while (logged().size() < 2 && !soon.passed())
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  ASSERT_EQ(logged().size(), 2U);
  std::vector<Json> entries;
  for (const std::string& line : logged()) entries.push_back(Json::parse(line));
  std::ranges::sort(entries, {}, [](const Json& entry) { return entry["status"].get<int>(); });
  EXPECT_EQ(entries[0]["token"], "");
  EXPECT_EQ(entries[0]["status"], 401);
  EXPECT_EQ(entries[1]["token"], "all");
  EXPECT_EQ(entries[1]["method"], "GET");
  EXPECT_EQ(entries[1]["target"], "/v1/jobs/0123?wait=1");
  EXPECT_EQ(entries[1]["address"], "127.0.0.1");
  EXPECT_GT(entries[1]["bytes"], 0);
}

// Answers a text with the same text, twice as long, and ends.
struct Echo : WebSocketSession {
  void take(std::string text) override { texts.push_back(std::move(text)); }
  bool is_busy() const override { return !texts.empty(); }
  bool is_over() const override { return is_answered; }
  std::optional<std::string> next(Milliseconds) override {
    const std::string text = texts.back();
    texts.pop_back();
    is_answered = true;
    return text + text;
  }
  std::vector<std::string> texts;
  bool is_answered = false;
};

TEST_F(HttpServerTest, BecomesAWebSocketWhereARouteGivesOne) {
  service().add({{.method = "GET", .path = "/echo", .answer = [](const auto&, const auto&) {
                    HttpReply reply;
                    reply.web_socket = std::make_shared<Echo>();
                    return reply;
                  }}});
  const std::string head =
      fmt::format("GET /echo HTTP/1.1\r\nHost: here\r\nAuthorization: Bearer {}\r\n", kToken);
  const std::string upgrade =
      "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
      "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n";
  const std::string hello = {'\x81', '\x82', 0, 0, 0, 0, 'h', 'i'};  // masked by zeros
  const std::string answer = answer_to(head + upgrade + "\r\n" + hello);
  EXPECT_EQ(answer.find("HTTP/1.1 101"), 0U) << answer;
  EXPECT_NE(answer.find("s3pPLMBiTxaQ9kYGzzhZRbK+xOo="), std::string::npos);
  EXPECT_NE(answer.find("\x81\x04hihi"), std::string::npos);
  EXPECT_EQ(answer_to(head + "\r\n").find("HTTP/1.1 426"), 0U);
  EXPECT_EQ(answer_to(head + upgrade + "Origin: http://evil.example\r\n\r\n").find("HTTP/1.1 403"),
            0U);
  EXPECT_EQ(metrics.streams(), 0);
}

// Has words of its own for a client that finds no room.
struct Polite : Echo {
  std::string no_room(int active, int most) const override {
    return fmt::format("{} of {}", active, most);
  }
};

TEST_F(HttpServerTest, TellsAClientWithoutRoomInTheWordsOfItsProtocol) {
  config.streams = 1;
  const auto route = [](const std::string& path, const auto& session) {
    return Route{.method = "GET", .path = path, .answer = [session](const auto&, const auto&) {
                   HttpReply reply;
                   reply.web_socket = session;
                   return reply;
                 }};
  };
  service().add(
      {route("/echo", std::make_shared<Echo>()), route("/polite", std::make_shared<Polite>())});
  const auto ask = [&](const std::string& path) {
    const std::string hello = {'\x81', '\x82', 0, 0, 0, 0, 'h', 'i'};  // masked by zeros
    return answer_to(fmt::format("GET {} HTTP/1.1\r\nHost: here\r\nAuthorization: Bearer {}\r\n"
                                 "Connection: Upgrade\r\nUpgrade: websocket\r\n"
                                 "Sec-WebSocket-Version: 13\r\n"
                                 "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n",
                                 path, kToken) +
                     hello);
  };
  server();
  metrics.change_streams(1);
  EXPECT_EQ(ask("/echo").find("HTTP/1.1 503"), 0U);
  const std::string told = ask("/polite");
  EXPECT_EQ(told.find("HTTP/1.1 101"), 0U) << told;
  EXPECT_NE(told.find("\x81\x06"
                      "1 of 1"),
            std::string::npos)
      << told;
  EXPECT_EQ(metrics.streams(), 1);
}

TEST_F(HttpServerTest, JudgesOverTheWire) {
  const auto reply = client().Post("/v1/jobs", job_json("good"), "application/json");
  ASSERT_EQ(reply->status, 202) << reply->body;
  const std::string id = Json::parse(reply->body)["id"];
  const auto done = client().Get("/v1/jobs/" + id + "?wait=10");
  EXPECT_EQ(Json::parse(done->body)["verdict"]["accepted"], true);
}

TEST_F(HttpServerTest, TakesABodyWhateverItsTypeIsSaidToBe) {
  const std::string body = job_json(std::string(9'000, 'x'));
  for (const char* type : {"application/x-www-form-urlencoded", "text/plain", ""})
    EXPECT_EQ(client().Post("/v1/jobs", body, type)->status, 202) << type;
  const auto parts =
      client().Post("/v1/jobs", httplib::MultipartFormDataItems{{.name = "job", .content = body}});
  EXPECT_EQ(parts->status, 415);
}

TEST_F(HttpServerTest, StreamsVerdictsAsTheyCome) {
  hold = true;
  Json job = Json::parse(job_json("k"));
  job["client"] = "ann";
  ASSERT_EQ(client().Post("/v1/jobs", job.dump(), "application/json")->status, 202);
  std::string text;
  bool came_before_release = false;
  auto listener = client();
  const auto reply = listener.Get(
      "/v1/verdicts?client=ann&until=idle",
      [&](const httplib::Response& response) {
        EXPECT_EQ(response.get_header_value("Content-Type"), "text/event-stream");
        came_before_release = hold;
        hold = false;
        return true;
      },
      [&](const char* data, std::size_t length) {
        text.append(data, length);
        return true;
      });
  EXPECT_TRUE(reply && came_before_release);
  EXPECT_EQ(occurrences(text, "event: verdict"), 1);
  // The listener may see the stream's end before the server has counted it.
  const Deadline soon = Deadline::after(std::chrono::seconds(10));
  while (metrics.streams() != 0 && !soon.passed())
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  EXPECT_EQ(metrics.streams(), 0);
}

TEST_F(HttpServerTest, AnswersWhatIsTooLargeOrOddWithATypedError) {
  const auto code_of = [](const auto& reply) { return Json::parse(reply->body)["error"]["code"]; };
  const auto large =
      client().Post("/v1/jobs", job_json(std::string(20'000, 'x')), "application/json");
  EXPECT_EQ(large->status, 413);
  EXPECT_EQ(code_of(large), "too_large");
  const auto encoded =
      client().Post("/v1/jobs", {{"Content-Encoding", "gzip"}}, "abc", "text/plain");
  EXPECT_EQ(encoded->status, 415);
  const auto malformed = client().Post("/v1/jobs", "{\"task\"", "application/json");
  EXPECT_EQ(malformed->status, 400);
  EXPECT_EQ(code_of(malformed), "bad_request");
  const auto elsewhere = client().Get("/" + std::string(4000, 'a'));
  EXPECT_EQ(elsewhere->status, 404);
  const auto other_method = client().Put("/v1/jobs", "x", "text/plain");
  EXPECT_EQ(other_method->status, 405);
  EXPECT_EQ(code_of(other_method), "method_not_allowed");
  EXPECT_EQ(other_method->get_header_value("Allow"), "DELETE, POST");
}

TEST_F(HttpServerTest, RefusesABodyOfUnknownLengthUnread) {
  const std::string head = fmt::format(
      "POST /v1/jobs HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {}\r\n"
      "Transfer-Encoding: chunked\r\n\r\n",
      kToken);
  EXPECT_TRUE(answer_to(head).starts_with("HTTP/1.1 411"));
}

TEST_F(HttpServerTest, DoesNotWaitForABodyThatWasNotAnnounced) {
  const auto head_of = [](std::string_view method) {
    return fmt::format("{} /v1/jobs HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {}\r\n\r\n",
                       method, kToken);
  };
  EXPECT_TRUE(answer_to(head_of("PUT")).starts_with("HTTP/1.1 405"));
  EXPECT_TRUE(answer_to(head_of("PATCH")).starts_with("HTTP/1.1 405"));
  const std::string post = answer_to(head_of("POST"));
  EXPECT_TRUE(post.starts_with("HTTP/1.1 400"));
  EXPECT_NE(post.find("JSON"), std::string::npos) << post;
}

TEST_F(HttpServerTest, AnswersNonsenseAndGoesOn) {
  EXPECT_TRUE(answer_to("nonsense\r\n\r\n").starts_with("HTTP/1.1 400"));
  EXPECT_TRUE(
      answer_to("GET " + std::string(20'000, 'a') + " HTTP/1.1\r\n\r\n").starts_with("HTTP/1.1 4"));
  EXPECT_EQ(client().Get("/healthz")->status, 200);
}

TEST_F(HttpServerTest, SaysWhenThePortIsTaken) {
  config.address.port = server().port();
  Service& same = service();
  const auto second = HttpServer::start(config, same, metrics);
  ASSERT_FALSE(second);
  EXPECT_NE(second.error().message.find(std::to_string(config.address.port)), std::string::npos);
  EXPECT_NE(second.error().message.find("another program"), std::string::npos);
}

TEST_F(HttpServerTest, RefusesWhatIsTooMuch) {
  config.connections = 2;
  config.streams = 1;
  hold = true;
  Json job = Json::parse(job_json("k"));
  job["client"] = "ann";
  ASSERT_EQ(client().Post("/v1/jobs", job.dump(), "application/json")->status, 202);
  std::atomic<bool> streaming = false;
  std::jthread listener([&] {
    auto listening = client();
    listening.Get(
        "/v1/verdicts?client=ann&until=idle",
        [&](const httplib::Response&) {
          streaming = true;
          return true;
        },
        [](const char*, std::size_t) { return true; });
  });
  while (!streaming) std::this_thread::yield();
  auto second_stream = client().Get("/v1/verdicts?client=bob");
  // The server may not have freed the last slot yet, and a refused client may find its
  // connection cut.
  for (int k = 0; k < 1000 && !second_stream; ++k)
    second_stream = client().Get("/v1/verdicts?client=bob");
  ASSERT_TRUE(second_stream);
  EXPECT_EQ(second_stream->status, 503);
  EXPECT_TRUE(second_stream->has_header("Retry-After"));
  // A silent connection takes the other slot. The next connection gets an answer that says so.
  const Fd silent(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{.sin_family = AF_INET,
                      .sin_port = htons(static_cast<std::uint16_t>(server().port())),
                      .sin_addr = {htonl(INADDR_LOOPBACK)},
                      .sin_zero = {}};
  ASSERT_EQ(::connect(silent.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  int status = 200;
  for (int k = 0; k < 1000 && status != 503; ++k)
    if (const auto reply = client().Get("/healthz")) status = reply->status;
  EXPECT_EQ(status, 503);
  hold = false;
}

}  // namespace
}  // namespace tritonsmith::gym::service
