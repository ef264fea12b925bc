#include "serve/web/web_server.h"

#include <gtest/gtest.h>

#include "base/base64.h"
#include "base/hash.h"
#include "base/temp_dir.h"
#include "serve/web/page_files.h"
#include "serve/web/testing/scripted_server.h"

namespace tritonsmith::serve::web {
namespace {

TEST(WebServer, AnswersChatsAndListsItsModels) {
  const ScriptedServer server([](const auto&) { return "hello"; });
  EXPECT_EQ(
      server.post("/v1/chat/completions", chat("small", "hi"))["choices"][0]["message"]["content"],
      "hello");
  EXPECT_EQ(server.get("/v1/models")["data"][1]["id"], "small-verified");
  EXPECT_EQ(server.post("/v1/chat/completions", chat("big", "hi"), 404)["error"]["code"],
            "model_not_found");
  EXPECT_EQ(
      server.post("/v1/completions", {{"model", "small"}, {"prompt", "x"}}, 404)["error"]["code"],
      "unsupported_endpoint");
  EXPECT_EQ(server.get("/health")["status"], "ok");
  const auto metrics = server.client().Get("/metrics");
  EXPECT_NE(metrics->body.find("tritonsmith_serve_requests_finished_total 1"), std::string::npos);
}

// Begins a text, and then fails.
class FailingWriter : public generate::Writer {
 public:
  Status submit(generate::WriteRequest request) override {
    if (request.on_text) request.on_text("more ");
    is_asked_ = true;
    return ok();
  }
  Result<std::optional<generate::Written>> next_by(Deadline) override {
    if (is_asked_) return fail_by_fault("the model's memory is full");
    return std::optional<generate::Written>();
  }
  void cancel(std::uint64_t) override {}

 private:
  std::atomic<bool> is_asked_ = false;
};

TEST(WebServer, AModelThatFailsMidwayGivesWholeRepliesAStatusAndStreamsALastEvent) {
  for (const std::string model : {"small", "small-verified"}) {
    const ScriptedServer server(std::make_unique<FailingWriter>());
    Json call = chat(model, kModule);
    const Json error = server.post("/v1/chat/completions", call, 503)["error"];
    EXPECT_NE(error["message"].get<std::string>().find("the model's memory is full"),
              std::string::npos)
        << error;
    call["stream"] = true;
    std::string body;
    const ScriptedServer again(std::make_unique<FailingWriter>());
    httplib::Request request;
    request.method = "POST";
    request.path = "/v1/chat/completions";
    request.body = call.dump();
    request.content_receiver = [&](const char* data, std::size_t length, auto, auto) {
      body.append(data, length);
      return true;
    };
    again.client().send(request);
    EXPECT_NE(body.find("data: {\"error\":{"), std::string::npos) << body;
    EXPECT_NE(body.find("the model's memory is full"), std::string::npos) << body;
  }
}

// Waits for a minute at most until the condition is true.
bool comes_true(const std::function<bool()>& condition) {
  const Deadline patience = Deadline::in_seconds(60);
  while (!condition() && !patience.passed()) std::this_thread::yield();
  return condition();
}

// Asks for a completion, and leaves when the model works on it.
void ask_and_leave(const ScriptedServer& server, const Json& call) {
  httplib::Client client = server.client();
  client.set_read_timeout(std::chrono::minutes(2));
  const std::jthread asking([&] {
    EXPECT_FALSE(client.Post("/v1/chat/completions", call.dump(), "application/json"))
        << "the reply ended";
  });
  EXPECT_TRUE(comes_true([&] { return server.metric("requests_running") > 0; })) << call;
  client.stop();
}

TEST(WebServer, AClientThatLeavesFreesTheModel) {
  for (const std::string model : {"small", "small-verified"})
    for (const bool is_streamed : {false, true}) {
      const ScriptedServer server(std::make_unique<EndlessWriter>());
      Json call = chat(model, kModule);
      call["stream"] = is_streamed;
      ask_and_leave(server, call);
      EXPECT_TRUE(comes_true([&] { return server.metric("requests_running") == 0; })) << call;
      EXPECT_GT(server.metric("requests_cancelled_total"), 0) << call;
      EXPECT_EQ(server.metric("requests_finished_total"), 0) << call;
    }
}

TEST(WebServer, TheVerifiedModelReturnsOnlyAnAcceptedKernel) {
  const ScriptedServer server([](const generate::WriteRequest& request) {
    return with_kernel(request.messages.size() > 1 ? "good" : "bad");
  });
  const Json reply = server.post(
      "/v1/chat/completions",
      chat("small-verified", std::string("Write a kernel:\n```python\n") + kModule + "```"));
  EXPECT_EQ(reply["choices"][0]["message"]["content"], "```python\ngood\n```\n");
  EXPECT_NE(reply["choices"][0]["message"]["reasoning_content"].get<std::string>().find("wrong"),
            std::string::npos);
  EXPECT_EQ(reply["tritonsmith"]["verdict"]["accepted"], true);
  EXPECT_NE(
      server.post("/v1/chat/completions", chat("small-verified", "hello"), 400)["error"]["message"]
          .get<std::string>()
          .find("must hold a PyTorch module"),
      std::string::npos);
}

TEST(WebServer, TheVerifiedModelSaysThatItFoundNone) {
  const ScriptedServer server([](const auto&) { return with_kernel("bad"); });
  Json call = chat("small-verified", kModule);
  call["tritonsmith"] = {{"conversations", 2}, {"turns", 1}};
  const Json reply = server.post("/v1/chat/completions", call);
  EXPECT_EQ(reply["choices"][0]["message"]["content"], "No kernel was verified in 2 attempts.");
  EXPECT_TRUE(reply["tritonsmith"]["verdict"].is_null());
  call["tritonsmith"] = {{"turn", 1}};
  EXPECT_NE(
      server.post("/v1/chat/completions", call, 400)["error"]["message"].get<std::string>().find(
          "did you mean 'turns'?"),
      std::string::npos);
}

TEST(WebServer, ASearchIsFollowedAndOutlivesTheServer) {
  const auto folder = TempDir::make("serve");
  ASSERT_TRUE(folder.has_value());
  const std::filesystem::path file = std::filesystem::path(folder->path()) / "searches.sqlite";
  std::string id;
  Json before;
  {
    const ScriptedServer server([](const auto&) { return with_kernel("good"); }, {}, file);
    id = server.post(
        "/api/searches",
        {{"source", kModule}, {"strategy", "sequential"}, {"conversations", 3}, {"turns", 2}},
        201)["id"];
    Json last = server.followed(id);
    EXPECT_EQ(last["search"]["state"], "done");
    EXPECT_EQ(last["search"]["accepted"], 1);  // equal kernels count once
    EXPECT_EQ(last["search"]["why"], "all that the strategy had to ask was asked");
    before = server.get("/api/searches/" + id);
    EXPECT_EQ(before["attempts"].size(), 3U);
    EXPECT_EQ(before["attempts"][0]["words"], "right");
  }
  const ScriptedServer again([](const auto&) { return ""; }, {}, file);
  EXPECT_EQ(again.get("/api/searches/" + id), before);
  EXPECT_EQ(again.get("/api/searches")["searches"][0]["id"], id);
}

TEST(WebServer, TakesTheInstructionFromAModulesFirstLineAsFilesHaveIt) {
  const ScriptedServer server([](const generate::WriteRequest& request) {
    return with_kernel(request.messages[0].content == kModule ? "good" : "bad");
  });
  const std::string source = std::string("# instruction: Add one.\n") + kModule;
  const Json order = {{"source", source}, {"conversations", 1}, {"turns", 1}};
  Json last = server.followed(server.post("/api/searches", order, 201)["id"]);
  EXPECT_EQ(last["search"]["accepted"], 1);
}

TEST(WebServer, MakesAPatchOfAnAcceptedKernel) {
  const ScriptedServer server([](const generate::WriteRequest& request) {
    return with_kernel(request.sampling.temperature == 0 ? "bad" : "class ModelNew: good");
  });
  const std::string id =
      server.post("/api/searches",
                  {{"source", kModule + std::string("\n\ndef get_init_inputs():\n"
                                                    "    return [64]\n")},
                   {"conversations", 2},
                   {"turns", 1}},
                  201)["id"];
  server.followed(id);
  const Json attempts = server.get("/api/searches/" + id)["attempts"];
  const int good = attempts[0]["verdict"]["accepted"] ? 0 : 1;
  const std::string path = "/api/searches/" + id + "/patch/";
  const Json patch = server.get(path + std::to_string(good));
  EXPECT_NE(patch["module"].get<std::string>().find("class ModelNew: good"), std::string::npos);
  EXPECT_NE(patch["module"].get<std::string>().find("ARGUMENTS = [64]"), std::string::npos);
  EXPECT_NE(patch["test"].get<std::string>().find("_compare([*get_inputs()])"), std::string::npos);
  EXPECT_EQ(server.client().Get(path + std::to_string(1 - good))->status, 400);
  for (const char* none : {"9", "x", "", "0x"})
    EXPECT_EQ(server.client().Get(path + none)->status, 404) << none;
}

TEST(WebServer, SaysWhichMethodsAPathHas) {
  const ScriptedServer server([](const generate::WriteRequest&) { return with_kernel("good"); });
  auto client = server.client();
  const auto allowed = [](const httplib::Result& reply) {
    EXPECT_EQ(reply->status, 405);
    EXPECT_EQ(Json::parse(reply->body)["error"]["code"], "method_not_allowed");
    return reply->get_header_value("Allow");
  };
  for (const char* path : {"/v1/models", "/v1/models/x", "/health", "/metrics", "/api/info",
                           "/api/tasks", "/", "/icon.svg", "/api/searches/x",
                           "/api/searches/x/patch/1", "/api/runs/x", "/api/samples/1/x"})
    EXPECT_EQ(allowed(client.Post(path, "{}", "application/json")), "GET, HEAD") << path;
  for (const char* path : {"/v1/chat/completions", "/v1/completions", "/api/searches/x/stop"})
    EXPECT_EQ(allowed(client.Get(path)), "POST") << path;
  EXPECT_EQ(allowed(client.Delete("/v1/models")), "GET, HEAD");
  EXPECT_EQ(allowed(client.Delete("/api/searches")), "GET, HEAD, POST");
  EXPECT_EQ(allowed(client.Put("/api/searches/x/events", "{}", "application/json")), "GET");
  EXPECT_EQ(client.Delete("/v1/nothing")->status, 404);
}

TEST(WebServer, NamesASearchByWholeWords) {
  const ScriptedServer server([](const generate::WriteRequest&) { return with_kernel("good"); });
  const auto title = [&](const std::string& forward) {
    const std::string module =
        "import torch\n\nclass Model:\n    def forward(self, x):\n        return " + forward +
        "\n\ndef get_inputs():\n    return []\n";
    const std::string id = server.post("/api/searches", {{"source", module}}, 201)["id"];
    const Json search = server.get("/api/searches/" + id)["search"];
    server.followed(id);
    return search["order"]["title"].get<std::string>();
  };
  EXPECT_EQ(title("torch.relu(x\n            + 1)"), "torch.relu(x + 1)");
  const std::string words =
      "x + aaaaaaaaaa + bbbbbbbbbb + cccccccccc + dddddddddd + eeeeeeeeee + ffffffffff";
  EXPECT_EQ(title(words + " + gggggggggg"), words.substr(0, 80) + "\u2026");
}

TEST(WebServer, AKernelMustBeRightForEachCallOfAModule) {
  const ScriptedServer server([](const generate::WriteRequest& request) {
    const bool sees_both =
        request.messages[0].content.find("It is also called with") != std::string::npos;
    return with_kernel(!sees_both                          ? "bad"
                       : request.sampling.temperature == 0 ? "class ModelNew: small good"
                                                           : "class ModelNew: good");
  });
  Json order = {{"source", "import torch\n\ndef twice(x):\n    return x * 2\n"},
                {"title", "twice"},
                {"name", "twice"},
                {"inputs", {"randn(8, 64)", "randn(512, 64)"}},
                {"conversations", 2},
                {"turns", 1}};
  const std::string id = server.post("/api/searches", order, 201)["id"];
  server.followed(id);
  const Json shown = server.get("/api/searches/" + id);
  ASSERT_EQ(shown["attempts"].size(), 2U);
  EXPECT_EQ(shown["search"]["accepted"], 1);
  for (const Json& attempt : shown["attempts"]) {
    if (!attempt["verdict"]["accepted"]) {
      EXPECT_NE(attempt["verdict"]["error"]["message"].get<std::string>().find(
                    "twice with randn(512, 64): "),
                std::string::npos);
      continue;
    }
    ASSERT_EQ(attempt["calls"].size(), 2U);
    EXPECT_EQ(attempt["calls"][1]["task"], "twice with randn(512, 64)");
    const std::string number = std::to_string(attempt["number"].get<int>());
    const Json patch = server.get("/api/searches/" + id + "/patch/" + number);
    EXPECT_NE(patch["test"].get<std::string>().find("torch.randn(512, 64)"), std::string::npos);
  }
  const auto refusal = [&](const std::string& member, const Json& value) {
    Json changed = order;
    changed[member] = value;
    return server.post("/api/searches", changed, 400)["error"]["message"].get<std::string>();
  };
  EXPECT_NE(refusal("inputs", {"/etc/secret.pt"}).find("no file can be named"), std::string::npos);
  EXPECT_NE(refusal("name", "thrice").find("defines no thrice"), std::string::npos);
  EXPECT_NE(refusal("inputs", {"randn(8, 64), 3"}).find("--inputs"), std::string::npos);
  EXPECT_NE(refusal("inputs", std::vector<std::string>(17, "randn(1)")).find("at most 16"),
            std::string::npos);
}

// One user orders more than the server can do. Twenty others come, each with a module of its own.
TEST(WebServer, TwentyUsersGetTheirOwnKernelsAndNobodyWaitsForAnothersSearches) {
  constexpr int users = 20, greedy_searches = 30, greedy_attempts = 256;
  const auto token_of = [](int user) { return "the-token-of-user-" + std::to_string(user); };
  std::vector<gym::service::Token> tokens;
  for (int user = 0; user <= users; ++user)
    tokens.push_back({.name = std::to_string(user), .token = token_of(user)});
  std::atomic<int> written = 0;
  const ScriptedServer server(
      [&](const generate::WriteRequest& request) {
        return with_kernel("good number " + number_in(request.messages[0].content) + " kernel " +
                           std::to_string(++written));
      },
      tokens);
  const auto order = [&](int user, int attempts) {
    const Json body = {{"source", kModule + std::string("# number ") + std::to_string(user)},
                       {"conversations", attempts},
                       {"turns", 1}};
    const auto made =
        server.client(token_of(user)).Post("/api/searches", body.dump(), "application/json");
    EXPECT_TRUE(made && made->status == 201);
    return made ? Json::parse(made->body).value("id", "") : "";
  };
  for (int k = 0; k < greedy_searches; ++k) order(users, greedy_attempts);
  std::vector<int> waits(users);
  std::vector<std::jthread> threads;
  for (int user = 0; user < users; ++user)
    threads.emplace_back([&, user] {
      const int before = server.judged_jobs;
      const std::string id = order(user, 4);
      Json last;
      EventStreamReader reader([&](const ServerEvent& event) {
        last = Json::parse(event.data);
        const auto wait = [&] { return server.judged_jobs - before; };
        if (waits[static_cast<std::size_t>(user)] == 0 && !last["attempts"].empty())
          waits[static_cast<std::size_t>(user)] = wait();
      });
      server.client(token_of(user))
          .Get("/api/searches/" + id + "/events", [&](const char* data, std::size_t length) {
            return reader.feed({data, length}).has_value();
          });
      EXPECT_EQ(last["search"]["accepted"], 4) << user;
      const Json shown =
          Json::parse(server.client(token_of(user)).Get("/api/searches/" + id)->body);
      for (const Json& attempt : shown["attempts"])
        EXPECT_EQ(number_in(attempt["kernel"]), std::to_string(user));
    });
  threads.clear();
  EXPECT_GT(server.metric_of(token_of(0), "searches_waiting"), 0) << "the greedy user waits alone";
  // Ahead of a user's first kernel are those that the model and the judge have already, 16 of each
  // running search, and then one of each search a turn.
  EXPECT_LT(*std::ranges::max_element(waits), greedy_searches * greedy_attempts / 4);
  EXPECT_GT(*std::ranges::min_element(waits), 0);
}

TEST(WebServer, OffersModulesAsFilesHaveThem) {
  const ScriptedServer server([](const auto&) { return ""; });
  const Json tasks = server.get("/api/tasks")["tasks"];
  ASSERT_EQ(tasks.size(), 1U);
  EXPECT_EQ(tasks[0]["id"], "twice");
  EXPECT_EQ(tasks[0]["source"], std::string("# instruction: Do it.\n") + kModule);
}

TEST(WebServer, ShowsRunsOnlyIfItsOperatorWishes) {
  const ScriptedServer server([](const auto&) { return ""; });
  EXPECT_EQ(server.get("/api/info")["runs"], false);
  EXPECT_EQ(server.client().Get("/api/runs")->status, 404);
}

TEST(WebServer, JudgesAPastedKernel) {
  const ScriptedServer server([](const auto&) { return ""; });
  const Json order = {{"kind", "judge"}, {"source", kModule}, {"kernel", "class ModelNew: bad"}};
  const std::string id = server.post("/api/searches", order, 201)["id"];
  Json last = server.followed(id);
  EXPECT_EQ(last["search"]["state"], "done");
  Json shown = server.get("/api/searches/" + id);
  EXPECT_EQ(shown["attempts"][0]["verdict"]["error"]["class"], "wrong_value");
  EXPECT_NE(server.post("/api/searches", {{"source", "nothing"}}, 400)["error"]["message"]
                .get<std::string>()
                .find("the module"),
            std::string::npos);
}

TEST(WebServer, WithoutAModelItJudgesAndRefusesToWrite) {
  const ScriptedServer server(std::unique_ptr<generate::Writer>{});
  const Json order = {{"kind", "judge"}, {"source", kModule}, {"kernel", "class ModelNew: good"}};
  Json last = server.followed(server.post("/api/searches", order, 201)["id"]);
  EXPECT_EQ(last["search"]["accepted"], 1);
  EXPECT_EQ(server.post("/api/searches", {{"source", kModule}}, 400)["error"]["message"],
            "this server has no model to write with; start it with --model");
  for (const char* path : {"/v1/chat/completions", "/v1/completions"})
    EXPECT_EQ(server.post(path, chat("small", "hi"), 404)["error"]["message"],
              "this server has no model; start it with --model");
  EXPECT_TRUE(server.get("/v1/models")["data"].empty());
  EXPECT_TRUE(server.get("/api/info")["models"].empty());
  EXPECT_EQ(server.get("/health")["status"], "ok");
  EXPECT_EQ(server.metric("verdicts_total"), 1);
}

TEST(WebServer, ASearchWaitsForAServerWithAModel) {
  const auto folder = TempDir::make("serve");
  ASSERT_TRUE(folder.has_value());
  const std::filesystem::path file = std::filesystem::path(folder->path()) / "searches.sqlite";
  std::string id, other;
  {
    const ScriptedServer server(std::make_unique<EndlessWriter>(), {}, file);
    for (std::string* each : {&id, &other})
      *each = server.post("/api/searches", {{"source", kModule}}, 201)["id"];
  }
  {
    const ScriptedServer server(std::unique_ptr<generate::Writer>{}, {}, file);
    EXPECT_EQ(server.metric("searches_waiting"), 2);
    EXPECT_EQ(server.get("/api/searches/" + id)["search"]["state"], "queued");
    server.post("/api/searches/" + other + "/stop", Json::object());
    EXPECT_EQ(server.get("/api/searches/" + other)["search"]["state"], "stopped");
  }
  const ScriptedServer server([](const auto&) { return with_kernel("good"); }, {}, file);
  EXPECT_EQ(server.followed(id)["search"]["state"], "done");
}

TEST(WebServer, KeepsEachTokensSearchesApart) {
  const ScriptedServer server([](const auto&) { return with_kernel("good"); },
                              {{.name = "ann", .token = "ann-has-this-token"},
                               {.name = "bob", .token = "bob-has-this-token"}});
  EXPECT_EQ(server.client().Get("/api/searches")->status, 401);
  EXPECT_EQ(server.client().Get("/")->status, 200);
  EXPECT_EQ(server.client("a-token-of-nobody").Get("/v1/models")->status, 401);
  const auto made =
      server.client("ann-has-this-token")
          .Post("/api/searches", Json{{"source", kModule}}.dump(), "application/json");
  ASSERT_EQ(made->status, 201);
  const auto searches = [&](const std::string& token) {
    return Json::parse(server.client(token).Get("/api/searches")->body)["searches"].size();
  };
  EXPECT_EQ(searches("ann-has-this-token"), 1U);
  EXPECT_EQ(searches("bob-has-this-token"), 0U);
  const std::string id = Json::parse(made->body)["id"];
  EXPECT_EQ(server.client("bob-has-this-token").Get("/api/searches/" + id)->status, 200);  // a link
}

TEST(WebServer, OnlyItsOwnKeyStopsASearch) {
  const ScriptedServer server(std::make_unique<EndlessWriter>(),
                              {{.name = "ann", .token = "ann-has-this-token"},
                               {.name = "bob", .token = "bob-has-this-token"}});
  const auto post = [&](const std::string& token, const std::string& path, const Json& body) {
    return server.client(token).Post(path, body.dump(), "application/json");
  };
  const std::string id =
      Json::parse(post("ann-has-this-token", "/api/searches", {{"source", kModule}})->body)["id"];
  const std::string stop = "/api/searches/" + id + "/stop";
  const auto refused = post("bob-has-this-token", stop, Json::object());
  EXPECT_EQ(refused->status, 403);
  EXPECT_NE(refused->body.find("only that key may stop it"), std::string::npos);
  EXPECT_EQ(post("ann-has-this-token", stop, Json::object())->status, 200);
}

TEST(WebServer, RefusesPagesOfOtherOriginsAndRunsNoForeignCode) {
  const ScriptedServer server([](const auto&) { return "hello"; });
  const auto refused = server.client().Post("/api/searches", {{"Origin", "http://evil.example"}},
                                            "{}", "application/json");
  EXPECT_EQ(refused->status, 403);
  const auto page = server.client().Get("/search/0123");
  EXPECT_EQ(page->status, 200);
  EXPECT_TRUE(page->get_header_value("Content-Type").starts_with("text/html"));
  const std::string policy = page->get_header_value("Content-Security-Policy");
  EXPECT_TRUE(policy.starts_with("default-src 'self';")) << policy;
  EXPECT_EQ(policy.find("unsafe"), std::string::npos) << policy;
}

TEST(WebServer, SendsThePageWhole) {
  const ScriptedServer server([](const auto&) { return "hello"; });
  const auto page = server.client().Get("/");
  EXPECT_EQ(page->body.find("<script src"), std::string::npos);
  EXPECT_EQ(page->body.find("stylesheet"), std::string::npos);
  EXPECT_EQ(server.client().Get("/icon.svg")->get_header_value("Content-Type"), "image/svg+xml");
  EXPECT_EQ(server.client().Get("/app.js")->status, 404) << "it stands in the page";
  const std::size_t begin = page->body.find("<script>") + 8, end = page->body.find("</script>");
  ASSERT_LT(begin, end);
  const std::string script = page->body.substr(begin, end - begin);
  for (const PageFile& file : page_files()) {
    if (!file.name.ends_with(".js")) continue;
    EXPECT_NE(script.find(file.bytes), std::string::npos) << file.name;
  }
  const Digest digest = sha256(script);
  const std::string allowed =
      base64_encode({reinterpret_cast<const char*>(digest.data()), digest.size()});
  EXPECT_NE(page->get_header_value("Content-Security-Policy").find(allowed), std::string::npos);
}

}  // namespace
}  // namespace tritonsmith::serve::web
