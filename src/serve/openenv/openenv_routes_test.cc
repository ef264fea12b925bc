// OpenEnv's protocol, against a service whose judge is a fake.
#include "serve/openenv/openenv_routes.h"

#include <gmock/gmock.h>

#include "serve/jobs/testing/documented.h"
#include "serve/mcp/testing/mcp_fixture.h"

namespace tritonsmith::serve::openenv {
namespace {

using ::testing::HasSubstr;

struct OpenEnvTest : mcp::McpFixture {
  OpenEnvTest()
      : McpFixture({Task{.id = "level1/19_ReLU", .source = "class Model: pass\n"},
                    Task{.id = "level1/20_Tanh", .source = "class Model: pass\n"}}) {}
  const EnvironmentContext& context() {
    if (!context_)
      context_ = std::make_unique<EnvironmentContext>(
          EnvironmentContext{service().context(), suite, server(), "sm_90 (compiled, not run)"});
    return *context_;
  }
  gym::service::HttpReply http(const std::string& method, const std::string& path,
                               const std::string& body = "",
                               const std::map<std::string, std::string>& query = {}) {
    if (!added_) service().add(openenv_routes(context()));
    added_ = true;
    return call(method, path, body, query);
  }
  gym::service::WebSocketSession& session() {
    if (!session_) session_ = environment_session(context(), {}, 7);
    return *session_;
  }
  Json send_text(const std::string& text) {
    session().take(text);
    for (int wait = 0; wait < 1000 && session().is_busy(); ++wait)
      if (const auto answer = session().next(std::chrono::milliseconds(20)))
        return Json::parse(*answer);
    return nullptr;
  }
  Json send(const Json& message) { return send_text(message.dump()); }
  Json reset(const Json& options = {{"problem_id", "level1/19_ReLU"}}) {
    return send({{"type", "reset"}, {"data", options}});
  }
  Json step(const std::string& code) {
    return send({{"type", "step"}, {"data", {{"code", code}}}});
  }

 private:
  std::unique_ptr<EnvironmentContext> context_;
  std::shared_ptr<gym::service::WebSocketSession> session_;
  bool added_ = false;
};

TEST_F(OpenEnvTest, PlaysAnEpisodeOverAWebSocket) {
  const Json begun = reset();
  EXPECT_EQ(begun["type"], "observation");
  EXPECT_TRUE(begun["data"]["reward"].is_null());
  EXPECT_EQ(begun["data"]["observation"]["reference_code"], "class Model: pass\n");
  EXPECT_EQ(begun["data"]["observation"]["turn"], 0);
  Json turn = step("bad")["data"];
  EXPECT_EQ(turn["done"], false);
  EXPECT_DOUBLE_EQ(turn["reward"], 0.2);
  EXPECT_EQ(turn["observation"]["compilation_success"], true);
  EXPECT_EQ(turn["observation"]["correctness_pass"], false);
  EXPECT_THAT(turn["observation"]["feedback"].get<std::string>(), HasSubstr("wrong_value"));
  turn = step("good")["data"];
  EXPECT_EQ(turn["done"], true);
  EXPECT_DOUBLE_EQ(turn["reward"], 1.2);
  const Json state = send({{"type", "state"}})["data"];
  EXPECT_EQ(state["turn"], 2);
  EXPECT_EQ(state["solved"], true);
  EXPECT_TRUE(send({{"type", "close"}}).is_null());
  EXPECT_TRUE(session().is_over());
}

TEST_F(OpenEnvTest, TakesTheNamesThatKernrlHas) {
  for (const char* name : {"L1_19_ReLU", "19_ReLU", "level1/19_ReLU"})
    EXPECT_EQ(reset({{"problem_id", name}})["data"]["observation"]["problem_id"], "level1/19_ReLU");
  EXPECT_EQ(reset({{"task", "class Model: 1\n"}})["data"]["observation"]["problem_id"], "task");
  EXPECT_EQ(reset({{"seed", 3}})["data"]["observation"]["problem_id"], "level1/20_Tanh");
  EXPECT_EQ(reset(Json::object())["type"], "observation");
}

TEST_F(OpenEnvTest, PaysAsKernrlWhereItIsAsked) {
  reset({{"seed", 0}, {"reward", "kernrl"}});
  EXPECT_DOUBLE_EQ(step("bad")["data"]["reward"], -0.25);
  verdict_for = [](const gym::api::JudgeJob&) {
    return gym::api::failed_verdict(Stage::captured, ErrorClass::compile_error);
  };
}

TEST_F(OpenEnvTest, ExtractsTheKernelOfACompletion) {
  reset();
  const Json none = send({{"type", "step"}, {"data", {{"completion", "I cannot."}}}})["data"];
  EXPECT_EQ(none["observation"]["compilation_success"], false);
  EXPECT_DOUBLE_EQ(none["reward"], 0);
  const Json whole = send(
      {{"type", "step"},
       {"data", {{"completion", "<thinking>p</thinking><answer>\n```python\nx\n```\n</answer>"}}}});
  EXPECT_DOUBLE_EQ(whole["data"]["reward"], 1.3) << whole;
}

TEST_F(OpenEnvTest, NeitherPaysNorCountsAFaultOfOurs) {
  verdict_for = [](const gym::api::JudgeJob& job) {
    Verdict verdict = gym::api::accepted_verdict();
    if (job.kernel == "unlucky") verdict.fault = Fault::infrastructure;
    return verdict;
  };
  reset();
  const Json failed = step("unlucky");
  EXPECT_EQ(failed["type"], "error");
  EXPECT_EQ(failed["data"]["code"], "EXECUTION_ERROR");
  EXPECT_EQ(send({{"type", "state"}})["data"]["turn"], 0);
  EXPECT_EQ(step("lucky")["data"]["observation"]["turn"], 1);
}

TEST_F(OpenEnvTest, AnswersBeforeTheClientGivesUp) {
  hold = true;
  reset({{"problem_id", "19"}, {"step_seconds", 0.01}});
  EXPECT_EQ(step("slow")["data"]["code"], "EXECUTION_ERROR");
  hold = false;
  EXPECT_EQ(reset({{"problem_id", "19"}})["type"], "observation");
  EXPECT_EQ(step("slow")["data"]["done"], true) << "the job went on";
}

TEST_F(OpenEnvTest, SaysWhyNoJudgeTakesTheStep) {
  failed_starts = 1'000'000;
  reset({{"problem_id", "19"}, {"step_seconds", 0.3}});
  EXPECT_THAT(step("x")["data"]["message"].get<std::string>(), HasSubstr("the self-test failed"));
}

TEST_F(OpenEnvTest, SaysInItsOwnCodesWhatIsWrong) {
  EXPECT_EQ(step("early")["data"]["code"], "EXECUTION_ERROR");
  EXPECT_EQ(send_text("{")["data"]["code"], "INVALID_JSON");
  for (const char* odd : {"[]", "7", R"({"type": "jump"})", R"({"type": 1})", "{}"})
    EXPECT_EQ(send_text(odd)["data"]["code"], "UNKNOWN_TYPE") << odd;
  EXPECT_EQ(reset({{"problem_id", "none"}})["data"]["code"], "VALIDATION_ERROR");
  EXPECT_EQ(reset({{"max_turns", 0}})["data"]["code"], "VALIDATION_ERROR");
  EXPECT_EQ(reset({{"policy", "lax"}})["data"]["code"], "VALIDATION_ERROR");
  reset();
  for (const Json& odd : std::vector<Json>{
           Json::array(), {{"cod", "x"}}, {{"code", 1}}, {{"code", "a"}, {"completion", "b"}}})
    EXPECT_EQ(send({{"type", "step"}, {"data", odd}})["data"]["code"], "VALIDATION_ERROR") << odd;
}

TEST_F(OpenEnvTest, AnswersMessagesOfMcp) {
  const auto ask = [&](const Json& data) { return send({{"type", "mcp"}, {"data", data}}); };
  const Json listed = ask(request(1, "tools/list"));
  EXPECT_EQ(listed["type"], "mcp");
  EXPECT_EQ(listed["data"]["id"], 1);
  EXPECT_EQ(listed["data"]["result"]["tools"].size(), 6U);
  const Json judged = ask(request(2, "tools/call",
                                  {{"name", "judge_kernel"},
                                   {"arguments", {{"kernel", "bad"}, {"task", "level1/19_ReLU"}}},
                                   {"_meta", {{"progressToken", 1}}}}));
  EXPECT_EQ(judged["data"]["result"]["structuredContent"]["error"]["class"], "wrong_value");
  for (const Json& odd :
       std::vector<Json>{Json::object(), 7, {{"jsonrpc", "2.0"}, {"method", "notifications/x"}}}) {
    const Json refused = ask(odd);
    EXPECT_EQ(refused["type"], "mcp") << odd;
    EXPECT_EQ(refused["data"]["error"]["code"], mcp::kInvalidRequest) << odd;
  }
}

TEST_F(OpenEnvTest, CallsToolsInStepsThatAreNoTurns) {
  const auto tool = [&](const std::string& name, const Json& arguments) {
    return send({{"type", "step"},
                 {"data", {{"type", "call_tool"}, {"tool_name", name}, {"arguments", arguments}}}});
  };
  const Json listed = send({{"type", "step"}, {"data", {{"type", "list_tools"}}}})["data"];
  EXPECT_EQ(listed["observation"]["tools"].size(), 6U) << "no reset is needed";
  EXPECT_TRUE(listed["reward"].is_null());
  reset();
  const Json task = tool("get_task", {{"id", "level1/19_ReLU"}})["data"]["observation"];
  EXPECT_EQ(task["result"]["data"]["source"], "class Model: pass\n");
  EXPECT_TRUE(task["error"].is_null());
  const Json judged =
      tool("judge_kernel", {{"kernel", "good"}, {"task", "level1/19_ReLU"}})["data"]["observation"];
  EXPECT_EQ(judged["result"]["data"]["accepted"], true);
  const auto error_of = [&](const std::string& name, const Json& arguments) {
    return tool(name, arguments)["data"]["observation"]["error"]["error_type"];
  };
  EXPECT_EQ(error_of("rm", Json::object()), "tool_not_found");
  EXPECT_EQ(error_of("get_task", {{"id", "none"}}), "execution_error");
  EXPECT_EQ(tool("get_task", 7)["data"]["code"], "VALIDATION_ERROR");
  EXPECT_EQ(tool("", Json::object())["data"]["code"], "VALIDATION_ERROR");
  EXPECT_EQ(send({{"type", "state"}})["data"]["turn"], 0);
}

TEST_F(OpenEnvTest, SaysThatThereIsNoRoom) {
  const Json full = Json::parse(session().no_room(8, 8));
  EXPECT_EQ(full["type"], "error");
  EXPECT_EQ(full["data"]["code"], "CAPACITY_REACHED");
  EXPECT_EQ(full["data"]["max_sessions"], 8);
}

TEST_F(OpenEnvTest, ReadsTheTimeAndTheIdOfAStepsRequest) {
  hold = true;
  http("POST", "/reset");
  const auto step_with = [&](Json body) {
    body["action"] = {{"code", "x"}};
    return http("POST", "/step", body.dump());
  };
  const auto late = step_with({{"timeout_s", 0.01}, {"request_id", "r-1"}});
  EXPECT_EQ(late.status, 503);
  EXPECT_EQ(late.headers,
            (std::vector<std::pair<std::string, std::string>>{{"X-Request-Id", "r-1"}}));
  hold = false;
  EXPECT_EQ(step_with({{"timeout_s", nullptr}, {"request_id", nullptr}}).status, 200);
  for (const Json& odd : std::vector<Json>{{{"timeout_s", 0}},
                                           {{"timeout_s", -1}},
                                           {{"timeout_s", "1"}},
                                           {{"request_id", 7}},
                                           {{"request_id", "a\r\nb"}},
                                           {{"request_id", std::string(256, 'a')}}})
    EXPECT_EQ(step_with(odd).status, 422) << odd;
  const auto listed = http("POST", "/step", R"({"action": {"type": "list_tools"}})");
  EXPECT_EQ(json_of(listed)["observation"]["tools"].size(), 6U);
}

TEST_F(OpenEnvTest, EndsASessionThatDoesNotWaitForAnswers) {
  for (int i = 0; i < 100; ++i) session().take(R"({"type": "state"})");
  EXPECT_TRUE(session().is_over());
}

TEST_F(OpenEnvTest, KeepsEpisodesApartWithoutAConnection) {
  const auto reset_named = [&](const std::string& id, const std::string& problem) {
    return http("POST", "/reset", Json{{"episode_id", id}, {"problem_id", problem}}.dump()).status;
  };
  EXPECT_EQ(http("POST", "/step", R"({"action": {"code": "x"}})").status, 404);
  EXPECT_EQ(reset_named("a", "19"), 200);
  EXPECT_EQ(reset_named("b", "20"), 200);
  const auto turn = http("POST", "/step", R"({"action": {"code": "bad"}, "episode_id": "a"})");
  EXPECT_EQ(json_of(turn)["observation"]["problem_id"], "level1/19_ReLU");
  EXPECT_EQ(json_of(http("GET", "/state", "", {{"episode_id", "a"}}))["turn"], 1);
  EXPECT_EQ(json_of(http("GET", "/state", "", {{"episode_id", "b"}}))["turn"], 0);
  EXPECT_EQ(http("POST", "/reset").status, 200);
  EXPECT_EQ(http("POST", "/step", R"({"action": 1})").status, 422);
  EXPECT_EQ(http("POST", "/step", "{").status, 422);
  EXPECT_EQ(http("POST", "/reset", "[]").status, 422);
}

TEST_F(OpenEnvTest, KnowsNoEpisodeWhoseResetWasRefused) {
  EXPECT_EQ(http("POST", "/reset", R"({"problem_id": "none"})").status, 422);
  EXPECT_EQ(http("POST", "/step", R"({"action": {"code": "x"}})").status, 404);
  EXPECT_EQ(http("POST", "/reset").status, 200);
  EXPECT_EQ(http("POST", "/step", R"({"action": {"code": "x"}})").status, 200);
}

TEST_F(OpenEnvTest, RepliesThatItIsUnavailableForAFaultOfOurs) {
  verdict_for = [](const gym::api::JudgeJob&) {
    Verdict verdict;
    verdict.fault = Fault::infrastructure;
    return verdict;
  };
  http("POST", "/reset");
  const auto reply = http("POST", "/step", R"({"action": {"code": "x"}})");
  EXPECT_EQ(reply.status, 503);
  EXPECT_GT(reply.retry_after_seconds, 0);
}

TEST_F(OpenEnvTest, DescribesItsObservationsWhole) {
  const Json schema = json_of(http("GET", "/schema"));
  reset();
  const Json seen = step("bad")["data"]["observation"];
  for (const auto& [name, value] : seen.items())
    EXPECT_TRUE(schema["observation"]["properties"].contains(name)) << name;
  const Json state = send({{"type", "state"}})["data"];
  for (const auto& [name, value] : state.items())
    EXPECT_TRUE(schema["state"]["properties"].contains(name)) << name;
  std::set<std::string> members;
  for (const auto& [name, value] : state.items()) members.insert(name);
  EXPECT_EQ(members, members_of_schema("EnvironmentState"));
  EXPECT_EQ(json_of(http("GET", "/metadata"))["name"], "tritonsmith");
  EXPECT_EQ(names_of(openenv_routes(context())), documented_by("serve/openenv"));
}

}  // namespace
}  // namespace tritonsmith::serve::openenv
