#include <gtest/gtest.h>

#include "base/temp_dir.h"
#include "serve/web/testing/scripted_server.h"

namespace tritonsmith::serve::web {
namespace {

ScriptedServer::Writers two_writers() {
  ScriptedServer::Writers writers;
  for (const std::string name : {"large", "small"})
    writers.emplace(name, std::make_unique<generate::ScriptedWriter>(
                              [name](const auto&) { return with_kernel("good by " + name); }));
  return writers;
}

TEST(SeveralModels, AreServedEachWithItsSearch) {
  const ScriptedServer server(two_writers());
  EXPECT_EQ(server.get("/api/info")["models"], (Json{"large", "small"}));
  std::vector<std::string> names;
  const Json listed = server.get("/v1/models");
  for (const Json& each : listed["data"]) names.push_back(each["id"]);
  EXPECT_EQ(names,
            (std::vector<std::string>{"large", "large-verified", "small", "small-verified"}));
  for (const std::string name : {"large", "small"}) {
    const auto content = [&](const std::string& model) {
      return server
          .post("/v1/chat/completions", chat(model, kModule))["choices"][0]["message"]["content"]
          .get<std::string>();
    };
    EXPECT_NE(content(name).find("good by " + name), std::string::npos);
    EXPECT_EQ(content(name + "-verified"), "```python\ngood by " + name + "\n```\n");
    const std::string id = server.post(
        "/api/searches", {{"source", kModule}, {"model", name}, {"conversations", 1}}, 201)["id"];
    server.followed(id);
    const Json shown = server.get("/api/searches/" + id);
    EXPECT_EQ(shown["search"]["order"]["model"], name);
    EXPECT_EQ(shown["attempts"][0]["kernel"], "good by " + name + "\n");
  }
  EXPECT_EQ(server.post("/api/searches", {{"source", kModule}, {"model", "huge"}},
                        400)["error"]["message"],
            "this server has no model 'huge'; choose one of: 'large', 'small'");
  EXPECT_EQ(
      server.post("/v1/chat/completions", chat("huge-verified", kModule), 404)["error"]["message"],
      "/v1/chat/completions has no model 'huge-verified'; it has 'large', 'small', and each "
      "of them as NAME-verified");
}

TEST(SeveralModels, AreRetrievedByEachOfTheirNames) {
  const ScriptedServer server(two_writers());
  const Json listed = server.get("/v1/models")["data"];
  for (const Json& each : listed) {
    Json one = server.get("/v1/models/" + each["id"].get<std::string>());
    EXPECT_TRUE(one["created"].is_number_integer());
    one["created"] = each["created"];
    EXPECT_EQ(one, each);
  }
  const auto reply = server.client().Get("/v1/models/huge");
  ASSERT_TRUE(reply && reply->status == 404);
  EXPECT_EQ(Json::parse(reply->body)["error"]["message"],
            "/v1/models has no model 'huge'; it has 'large', 'small', and each of them as "
            "NAME-verified");
}

TEST(SeveralModels, ASearchWaitsForAServerWithItsModel) {
  const auto folder = TempDir::make("serve");
  ASSERT_TRUE(folder.has_value());
  const std::filesystem::path file = std::filesystem::path(folder->path()) / "searches.sqlite";
  std::string id;
  {
    ScriptedServer::Writers endless;
    endless.emplace("large", std::make_unique<EndlessWriter>());
    const ScriptedServer server(std::move(endless), {}, file);
    id = server.post("/api/searches", {{"source", kModule}}, 201)["id"];
  }
  {
    const ScriptedServer server([](const auto&) { return with_kernel("good by another"); }, {},
                                file);
    EXPECT_EQ(server.metric("searches_waiting"), 1);
  }
  const ScriptedServer server(two_writers(), {}, file);
  server.followed(id);
  EXPECT_EQ(server.get("/api/searches/" + id)["attempts"][0]["kernel"], "good by large\n");
}

}  // namespace
}  // namespace tritonsmith::serve::web
