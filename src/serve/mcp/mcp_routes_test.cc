// MCP over HTTP, in both eras of the protocol.
#include "serve/mcp/mcp_routes.h"

#include <gmock/gmock.h>

#include "base/base64.h"
#include "serve/jobs/testing/documented.h"
#include "serve/mcp/testing/mcp_fixture.h"

namespace tritonsmith::serve::mcp {
namespace {

using gym::service::HttpReply;
using ::testing::HasSubstr;

struct McpRoutesTest : McpFixture {
  HttpReply post(const Json& message, Headers headers = {}) {
    return post_text(message.dump(), std::move(headers));
  }
  HttpReply post_text(const std::string& body, Headers headers = {}) {
    if (!added_) service().add(mcp_routes(server()));
    added_ = true;
    return service().answer(
        {.method = "POST", .path = "/mcp", .headers = std::move(headers), .body = body});
  }
  static Headers headers_of(const Json& message) {
    Headers headers = {{"mcp-protocol-version", std::string(kModernVersion)},
                       {"mcp-method", message["method"]}};
    if (message["params"].contains("name")) headers["mcp-name"] = message["params"]["name"];
    return headers;
  }
  HttpReply post_modern(const Json& message) { return post(message, headers_of(message)); }
  Json result(const Json& message) {
    const HttpReply reply = post_modern(message);
    EXPECT_EQ(reply.status, 200) << reply.body;
    return json_of(reply)["result"];
  }
  // Reads the messages of a stream of events.
  static std::vector<Json> messages(const HttpReply& reply) {
    std::vector<Json> messages;
    const std::string text = drain(*reply.stream);
    for (std::size_t at = 0; (at = text.find("data: ", at)) != std::string::npos;) {
      const std::size_t end = text.find('\n', at);
      messages.push_back(Json::parse(text.substr(at + 6, end - at - 6)));
      at = end;
    }
    return messages;
  }
  HttpReply stream(const Json& message, Headers headers) {
    headers["accept"] = "application/json, text/event-stream";
    return post(message, std::move(headers));
  }

 private:
  bool added_ = false;
};

TEST_F(McpRoutesTest, AnswerAModernClientWithoutAHandshake) {
  const Json discovered = result(modern(1, "server/discover"));
  EXPECT_EQ(discovered["resultType"], "complete");
  EXPECT_EQ(discovered["supportedVersions"][0], kModernVersion);
  EXPECT_TRUE(discovered["capabilities"].contains("tools"));
  EXPECT_EQ(discovered["_meta"]["io.modelcontextprotocol/serverInfo"]["name"], "tritonsmith");
  const Json listed = result(modern("a", "tools/list"));
  EXPECT_EQ(listed["tools"].size(), 6U);
  EXPECT_GT(listed["ttlMs"], 0);
  EXPECT_EQ(listed["cacheScope"], "private");
  for (const Json& tool : listed["tools"])
    EXPECT_FALSE(tool["inputSchema"]["properties"].contains("kernel_path")) << "of a service";
  EXPECT_EQ(post_modern(modern(2, "initialize")).status, 404);
}

TEST_F(McpRoutesTest, AnswerALegacyClientAfterItsHandshake) {
  const HttpReply reply = post(request(0, "initialize", {{"protocolVersion", "2025-06-18"}}));
  EXPECT_EQ(json_of(reply)["result"]["protocolVersion"], "2025-06-18");
  EXPECT_EQ(reply.headers.at(0).first, "Mcp-Session-Id");
  EXPECT_EQ(
      json_of(post(request(0, "initialize",
                           {{"protocolVersion", "1999-01-01"}})))["result"]["protocolVersion"],
      "2025-11-25");
  EXPECT_EQ(post({{"jsonrpc", "2.0"}, {"method", "notifications/initialized"}}).status, 202);
  EXPECT_EQ(json_of(post(request(1, "ping")))["result"], Json::object());
  const Json listed = json_of(post(request(2, "tools/list")))["result"];
  EXPECT_EQ(listed["tools"].size(), 6U);
  EXPECT_FALSE(listed.contains("resultType"));
  const HttpReply unknown = post(request(3, "server/discover"));
  EXPECT_EQ(unknown.status, 200) << "the error is JSON-RPC's";
  EXPECT_EQ(json_of(unknown)["error"]["code"], kMethodNotFound);
}

TEST_F(McpRoutesTest, GiveOpenEnvsClientsASession) {
  const Json made = json_of(post(request(1, "openenv/session/create")))["result"];
  const std::string id = made["session_id"];
  EXPECT_GE(id.size(), 32U);
  EXPECT_EQ(json_of(post(request(2, "tools/list", {{"session_id", id}})))["result"]["tools"].size(),
            6U);
  Json call = judging("good");
  call["session_id"] = id;
  EXPECT_EQ(json_of(post(request(3, "tools/call", call)))["result"]["isError"], false);
  const Json closed = json_of(post(request(4, "openenv/session/close", {{"session_id", id}})));
  EXPECT_EQ(closed["result"], (Json{{"session_id", id}, {"closed", true}}));
  for (const Json& odd :
       std::vector<Json>{Json::object(), {{"session_id", ""}}, {{"session_id", 1}}})
    EXPECT_EQ(json_of(post(request(5, "openenv/session/close", odd)))["error"]["code"],
              kInvalidParams)
        << odd;
}

TEST_F(McpRoutesTest, SpeakOverAWebSocketInOrder) {
  post(request(1, "ping"));
  EXPECT_EQ(service().answer({.method = "GET", .path = "/mcp"}).status, 405);
  const HttpReply reply =
      service().answer({.method = "GET", .path = "/mcp", .headers = {{"upgrade", "WebSocket"}}});
  ASSERT_TRUE(reply.web_socket);
  auto& session = *reply.web_socket;
  for (const Json& message :
       {request(1, "tools/list"), Json{{"jsonrpc", "2.0"}, {"method", "notifications/initialized"}},
        request(2, "tools/call", judging("good")), Json(7)})
    session.take(message.dump());
  std::vector<Json> answers;
  while (session.is_busy())
    if (const auto text = session.next(std::chrono::milliseconds(20)))
      answers.push_back(Json::parse(*text));
  ASSERT_EQ(answers.size(), 3U);
  EXPECT_EQ(answers[0]["result"]["tools"].size(), 6U);
  EXPECT_EQ(answers[1]["result"]["structuredContent"]["accepted"], true);
  EXPECT_EQ(answers[2]["error"]["code"], kInvalidRequest);
  EXPECT_EQ(Json::parse(session.no_room(3, 3))["error"]["data"]["max_sessions"], 3);
  EXPECT_FALSE(session.is_over());
  for (int i = 0; i < 100; ++i) session.take("{}");
  EXPECT_TRUE(session.is_over()) << "a client that does not wait for answers";
}

TEST_F(McpRoutesTest, RefuseHeadersThatContradictTheBody) {
  const Json call = modern(1, "tools/call", {{"name", "list_tasks"}});
  for (const auto& [name, value] : Headers{{"mcp-method", "tools/list"},
                                           {"mcp-name", "judge_kernel"},
                                           {"mcp-name", "=?base64?!?="},
                                           {"mcp-protocol-version", "2025-11-25"}}) {
    Headers headers = headers_of(call);
    headers[name] = value;
    const HttpReply reply = post(call, headers);
    EXPECT_EQ(reply.status, 400) << name;
    EXPECT_EQ(json_of(reply)["error"]["code"], kHeaderMismatch) << name;
    headers.erase(name);
    EXPECT_EQ(json_of(post(call, headers))["error"]["code"], kHeaderMismatch) << name;
  }
  Headers encoded = headers_of(call);
  encoded["mcp-name"] = "=?base64?" + base64_encode("list_tasks") + "?=";
  EXPECT_EQ(post(call, encoded).status, 200);
}

TEST_F(McpRoutesTest, NameTheVersionsThatTheySpeak) {
  Json message = modern(1, "tools/list");
  message["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"] = "2030-01-01";
  Headers headers = headers_of(message);
  headers["mcp-protocol-version"] = "2030-01-01";
  const HttpReply reply = post(message, headers);
  EXPECT_EQ(reply.status, 400);
  EXPECT_EQ(json_of(reply)["error"]["code"], kUnsupportedVersion);
  EXPECT_EQ(json_of(reply)["error"]["data"]["requested"], "2030-01-01");
  EXPECT_EQ(json_of(reply)["error"]["data"]["supported"][0], kModernVersion);
  message = modern(1, "tools/list");
  message["params"]["_meta"].erase("io.modelcontextprotocol/clientCapabilities");
  EXPECT_EQ(json_of(post_modern(message))["error"]["code"], kInvalidParams);
}

TEST_F(McpRoutesTest, RefuseWhatIsNoMessage) {
  for (const auto& [body, code] : std::vector<std::pair<std::string, int>>{
           {"{", kParseError},
           {"[]", kInvalidRequest},
           {"{}", kInvalidRequest},
           {R"({"jsonrpc": "1.0", "id": 1, "method": "ping"})", kInvalidRequest},
           {R"({"jsonrpc": "2.0", "id": null, "method": "ping"})", kInvalidRequest},
           {R"({"jsonrpc": "2.0", "id": 1.5, "method": "ping"})", kInvalidRequest},
           {R"({"jsonrpc": "2.0", "id": 1, "method": 7})", kInvalidRequest},
           {R"({"jsonrpc": "2.0", "id": 1, "method": "ping", "params": [1]})", kInvalidRequest},
           {R"({"jsonrpc": "2.0", "id": 1, "method": "tools/call"})", kInvalidParams},
           {R"({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "rm"}})",
            kInvalidParams}}) {
    const HttpReply reply = post_text(body);
    EXPECT_EQ(reply.status, 200) << body;
    EXPECT_EQ(json_of(reply)["jsonrpc"], "2.0") << body;
    EXPECT_EQ(json_of(reply)["error"]["code"], code) << body;
    const Headers modern = {{"mcp-protocol-version", std::string(kModernVersion)}};
    EXPECT_EQ(post_text(body, modern).status, 400) << body;
  }
}

TEST_F(McpRoutesTest, KeepPagesOfOtherSitesOut) {
  const Json ping = request(1, "ping");
  for (const char* origin : {"http://evil.example", "https://evil.example:8800", "null", "x"})
    EXPECT_EQ(post(ping, {{"origin", origin}}).status, 403) << origin;
  for (const char* origin : {"http://localhost:6274", "http://127.0.0.1", "http://[::1]:80"})
    EXPECT_EQ(post(ping, {{"origin", origin}}).status, 200) << origin;
}

TEST_F(McpRoutesTest, JudgeAndTellTheVerdictTwice) {
  const Json good = result(modern(1, "tools/call", judging("good")));
  EXPECT_EQ(good["isError"], false);
  EXPECT_EQ(good["structuredContent"]["accepted"], true);
  EXPECT_THAT(good["content"][0]["text"].get<std::string>(), HasSubstr("Your kernel is right"));
  const Json bad = result(modern(2, "tools/call", judging("bad")));
  EXPECT_EQ(bad["isError"], false) << "a bad kernel is data";
  EXPECT_EQ(bad["structuredContent"]["error"]["class"], "wrong_value");
}

TEST_F(McpRoutesTest, HaveNoResultForAFaultOfOurs) {
  let_fail();
  const Json failed = result(modern(1, "tools/call", judging("good")));
  EXPECT_EQ(failed["isError"], true);
  EXPECT_FALSE(failed.contains("structuredContent"));
  EXPECT_THAT(failed["content"][0]["text"].get<std::string>(),
              HasSubstr("by no fault of the kernel"));
}

TEST_F(McpRoutesTest, EndACallWhenTheJudgeDoesNotStart) {
  failed_starts = 1'000'000;
  const Json failed = result(modern(1, "tools/call", judging("good")));
  EXPECT_EQ(failed["isError"], true);
  EXPECT_THAT(failed["content"][0]["text"].get<std::string>(),
              HasSubstr("the judge does not start: the self-test failed"));
  const Json message = modern(2, "tools/call", judging("good"));
  const auto all = messages(stream(message, headers_of(message)));
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0]["result"]["isError"], true);
}

TEST_F(McpRoutesTest, EndACallWhenNoJudgeTakesJobsForLong) {
  slow_start = true;
  patience_seconds = 0;
  const Json failed = result(modern(1, "tools/call", judging("good")));
  EXPECT_EQ(failed["isError"], true);
  EXPECT_THAT(failed["content"][0]["text"].get<std::string>(),
              HasSubstr("self-test has not passed"));
  slow_start = false;
}

TEST_F(McpRoutesTest, StreamProgressAndThenTheResult) {
  hold = true;
  Json message = modern(7, "tools/call", judging("good"));
  message["params"]["_meta"]["progressToken"] = "p";
  const HttpReply reply = stream(message, headers_of(message));
  EXPECT_EQ(reply.content_type, "text/event-stream");
  std::string text;
  while (text.find("notifications/progress") == std::string::npos)
    text = reply.stream->next(std::chrono::milliseconds(10));
  hold = false;
  const auto all = messages(reply);
  EXPECT_EQ(all.back()["id"], 7);
  EXPECT_EQ(all.back()["result"]["structuredContent"]["accepted"], true);
  EXPECT_EQ(reply.stream->next(std::chrono::milliseconds(1)), "");
}

TEST_F(McpRoutesTest, CancelTheJobOfAModernClientThatClosesItsStream) {
  hold = true;
  const Json message = modern(7, "tools/call", judging("unwanted"));
  HttpReply reply = stream(message, headers_of(message));
  reply.stream->next(std::chrono::milliseconds(1));
  const std::string id =
      gym::api::job_name({.job = {.task = {.id = "level1/1_A", .source = "class Model: pass\n"},
                                  .kernel = "unwanted"}});
  ASSERT_TRUE(*job_store->find(id));
  reply.stream.reset();
  EXPECT_EQ((*job_store->find(id))->state, gym::service::JobState::cancelled);
}

TEST_F(McpRoutesTest, CancelTheCallThatALegacyClientNames) {
  hold = true;
  const Headers session = {{"mcp-session-id", "s"}};
  const HttpReply reply = stream(request(7, "tools/call", judging("unwanted")), session);
  const Json cancel = {
      {"jsonrpc", "2.0"}, {"method", "notifications/cancelled"}, {"params", {{"requestId", 7}}}};
  EXPECT_EQ(post(cancel, {{"mcp-session-id", "another"}}).status, 202);
  EXPECT_EQ(reply.stream->next(std::chrono::milliseconds(1)), ": still here\n\n");
  EXPECT_EQ(post(cancel, session).status, 202);
  EXPECT_EQ(reply.stream->next(std::chrono::milliseconds(1)), "");
}

TEST_F(McpRoutesTest, StandInTheDocumentOfTheService) {
  EXPECT_EQ(names_of(mcp_routes(server())), documented_by("serve/mcp"));
}

}  // namespace
}  // namespace tritonsmith::serve::mcp
