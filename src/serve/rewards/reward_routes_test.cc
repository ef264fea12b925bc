// Rewards by URL, against a service whose judge is a fake.
#include "serve/rewards/reward_routes.h"

#include <gmock/gmock.h>

#include "gym/service/testing/service_fixture.h"
#include "serve/jobs/testing/documented.h"
#include "serve/rewards/requests.h"

namespace tritonsmith::serve {
namespace {

using ::testing::HasSubstr;

const std::string kTask = "class Model: pass\n";

std::string completion_with(const std::string& code) {
  return "<thinking>p</thinking><answer>\n```python\n" + code + "\n```\n</answer>";
}

struct RewardRoutesTest : gym::service::ServiceFixture {
  RewardRoutesTest() {
    verdict_for = [](const gym::api::JudgeJob& job) {
      return job.kernel == "bad\n" ? gym::api::failed_verdict(Stage::ran, ErrorClass::wrong_value)
                                   : gym::api::accepted_verdict();
    };
  }
  gym::service::HttpReply post(const std::string& path, const Json& body,
                               const std::map<std::string, std::string>& query = {}) {
    if (!added_) {
      service().add(reward_routes(service().context(), suite));
      added_ = true;
    }
    return call("POST", path, body.dump(), query);
  }
  gym::service::HttpReply slime(const std::string& response, const Json& label,
                                const std::map<std::string, std::string>& query = {}) {
    return post("/v1/reward/slime", {{"prompt", "p"}, {"response", response}, {"label", label}},
                query);
  }
  gym::service::HttpReply openrlhf(const std::vector<std::string>& responses, const Json& label,
                                   const std::map<std::string, std::string>& query = {}) {
    Json body = {{"query", Json::array()}, {"prompts", Json::array()}, {"labels", Json::array()}};
    for (const std::string& response : responses) {
      body["query"].push_back("<s>the prompt " + response);
      body["prompts"].push_back("the prompt ");
      body["labels"].push_back(label);
    }
    return post("/v1/reward/openrlhf", body, query);
  }
  // A judge that counts, and fails by its own fault as often as `faults` says.
  void let_fail(int faults) {
    verdict_for = [this, faults](const gym::api::JudgeJob&) {
      if (judged++ >= faults) return gym::api::accepted_verdict();
      Verdict verdict;
      verdict.fault = Fault::infrastructure;
      verdict.error =
          VerdictError{.error_class = ErrorClass::infrastructure, .message = "the referee died"};
      return verdict;
    };
  }

  const Suite suite{{Task{.id = "level1/19_ReLU", .source = kTask}}};
  std::atomic<int> judged = 0;

 private:
  bool added_ = false;
};

TEST_F(RewardRoutesTest, GiveSlimeANumberForEveryFormOfALabel) {
  const std::vector<Json> labels = {
      "level1/19_ReLU", kTask, Json{{"task", "level1/19_ReLU"}, {"policy", "open"}},
      Json{{"task", kTask}}.dump(), Json{{"reference_code", kTask}, {"entry_point", "Model"}}};
  for (const Json& label : labels) {
    const auto reply = slime(completion_with("x = 1"), label);
    ASSERT_EQ(reply.status, 200) << label << reply.body;
    EXPECT_DOUBLE_EQ(json_of(reply), 0.1 + 0.2 + 1.0) << label;
  }
  EXPECT_DOUBLE_EQ(json_of(slime("I cannot.", "level1/19_ReLU")), 0.0);
  EXPECT_DOUBLE_EQ(json_of(slime(completion_with("bad"), "level1/19_ReLU")), 0.1 + 0.2);
}

TEST_F(RewardRoutesTest, GiveSlimeAnObjectWhereItNamesAKey) {
  const Json reply =
      json_of(slime(completion_with("x = 1"), "level1/19_ReLU", {{"reward_key", "score"}}));
  EXPECT_DOUBLE_EQ(reply["score"], 1.3);
  EXPECT_EQ(reply["accepted"], 1);
  EXPECT_FALSE(reply.contains("speedup")) << "nothing was timed";
}

TEST_F(RewardRoutesTest, PayByTheWeightsOfTheLabel) {
  const Json label = {{"task", "level1/19_ReLU"},
                      {"weights", {{"format", 0}, {"compiled", 0}, {"correct", 5}}}};
  EXPECT_DOUBLE_EQ(json_of(slime(completion_with("x = 1"), label)), 5.0);
}

TEST_F(RewardRoutesTest, AnswerABatchOfOpenRlhfInOrder) {
  const Json reply = json_of(openrlhf(
      {completion_with("a") + "<|im_end|>", "nothing", completion_with("bad") + "<|eot_id|>\n</s>"},
      "level1/19_ReLU"));
  const std::vector<double> rewards = reply["rewards"];
  EXPECT_THAT(rewards, ::testing::ElementsAre(::testing::DoubleNear(1.3, 1e-9), 0.0,
                                              ::testing::DoubleNear(0.3, 1e-9)));
  EXPECT_EQ(reply["scores"], (Json{1.0, 0.0, 0.0}));
  EXPECT_EQ(reply["extra_logs"]["compiled"], (Json{1, 0, 1}));
}

TEST_F(RewardRoutesTest, HaveNoSpeedupWhereNothingWasTimed) {
  const Json label = "level1/19_ReLU";
  EXPECT_FALSE(json_of(openrlhf({completion_with("a")}, label))["extra_logs"].contains("speedup"));
  EXPECT_FALSE(
      json_of(slime(completion_with("a"), label, {{"reward_key", "r"}})).contains("speedup"));
}

TEST_F(RewardRoutesTest, TellSlimeTheSpeedupOfATimedKernel) {
  verdict_for = [](const gym::api::JudgeJob&) {
    Verdict verdict = gym::api::accepted_verdict();
    verdict.speedup = 2.0;
    return verdict;
  };
  EXPECT_EQ(json_of(slime(completion_with("a"), kTask, {{"reward_key", "r"}}))["speedup"], 2.0);
}

TEST_F(RewardRoutesTest, SayWhyNoJudgeTakesTheJob) {
  failed_starts = 1'000'000;
  const auto reply = slime(completion_with("a"), kTask, {{"wait", "0.5"}});
  EXPECT_EQ(reply.status, 503);
  EXPECT_GT(reply.retry_after_seconds, 0);
  EXPECT_THAT(reply.body, HasSubstr("there is no verdict yet"));
  EXPECT_THAT(reply.body, HasSubstr("no judge takes jobs: the self-test failed"));
}

TEST_F(RewardRoutesTest, NeverTakeTheCodeOfAPromptForAnAnswer) {
  Json body = {{"query", {"something else"}}, {"prompts", {"the prompt"}}, {"labels", {kTask}}};
  const auto reply = post("/v1/reward/openrlhf", body);
  EXPECT_EQ(reply.status, 400);
  EXPECT_THAT(reply.body, HasSubstr("query[0]"));
  body = {{"query", {"prompt " + completion_with("the prompt's") + " I cannot."}},
          {"prompts", {"prompt " + completion_with("the prompt's")}},
          {"labels", {kTask}}};
  EXPECT_EQ(json_of(post("/v1/reward/openrlhf", body))["rewards"], Json{0.0});
}

TEST_F(RewardRoutesTest, NameTheMemberAtFault) {
  for (const auto& [body, word] : std::vector<std::pair<Json, std::string>>{
           {Json::array(), "object"},
           {{{"query", {"a"}}, {"prompts", {"a"}}}, "labels"},
           {{{"query", {"a", 1}}, {"prompts", {"a"}}, {"labels", {"t"}}}, "query[1]"},
           {{{"query", {"a"}}, {"prompts", Json::array()}, {"labels", {"t"}}}, "1, 0 and 1"},
           {{{"query", {"a"}}, {"prompts", {"a"}}, {"labels", {"t"}}}, "no task 't'"}}) {
    const auto reply = post("/v1/reward/openrlhf", body);
    EXPECT_EQ(reply.status, 400) << body;
    EXPECT_THAT(reply.body, HasSubstr(word)) << body;
  }
  EXPECT_THAT(slime("r", Json()).body, HasSubstr("label"));
  EXPECT_THAT(slime("r", {{"policy", "open"}}).body, HasSubstr("task"));
  EXPECT_THAT(slime("r", {{"task", kTask}, {"policy", "lax"}}).body, HasSubstr("policy"));
  EXPECT_THAT(slime("r", {{"task", kTask}, {"strides", "lax"}}).body, HasSubstr("strides"));
  EXPECT_THAT(slime("r", {{"task", kTask}, {"device", "H200/2"}}).body, HasSubstr("device"));
  EXPECT_THAT(slime("r", {{"task", kTask}, {"weights", {{"sped", 1}}}}).body, HasSubstr("speed"));
  EXPECT_EQ(slime("r", kTask, {{"wait", "soon"}}).status, 400);
}

TEST_F(RewardRoutesTest, AskForARepeatInsteadOfAFalseNumber) {
  let_fail(1'000'000);
  for (int repeat = 0; repeat < 2; ++repeat) {
    const auto reply = slime(completion_with("x = 1"), kTask);
    EXPECT_EQ(reply.status, 503);
    EXPECT_GT(reply.retry_after_seconds, 0);
    EXPECT_EQ(json_of(reply)["error"]["code"], "infrastructure");
    EXPECT_THAT(reply.body, HasSubstr("the referee died"));
  }
  const auto batch = openrlhf({completion_with("a"), "no kernel"}, kTask);
  EXPECT_EQ(batch.status, 503) << "a batch with one fault has no rewards at all";
}

TEST_F(RewardRoutesTest, JudgeAgainWhatAFaultInterrupted) {
  let_fail(2);
  EXPECT_DOUBLE_EQ(json_of(slime(completion_with("x = 1"), kTask)), 1.3);
  EXPECT_EQ(judged, 3);
}

TEST_F(RewardRoutesTest, AnswerBeforeTheClientGivesUpAndJudgeOnce) {
  let_fail(0);
  hold = true;
  const auto early = slime(completion_with("x = 1"), kTask, {{"wait", "0.01"}});
  EXPECT_EQ(early.status, 503);
  EXPECT_EQ(json_of(early)["error"]["code"], "pending");
  hold = false;
  EXPECT_DOUBLE_EQ(json_of(slime(completion_with("x = 1"), kTask)), 1.3);
  EXPECT_DOUBLE_EQ(json_of(slime(completion_with("x = 1"), kTask)), 1.3);
  EXPECT_EQ(judged, 1);
}

TEST_F(RewardRoutesTest, WaitForRoomInAFullQueue) {
  store_limits.unfinished = 2;
  std::vector<std::string> responses;
  for (const char* code : {"a", "b", "c", "d", "e"}) responses.push_back(completion_with(code));
  const Json reply = json_of(openrlhf(responses, kTask));
  EXPECT_EQ(reply["scores"], Json(std::vector<double>(5, 1.0)));
  hold = true;
  for (const char* code : {"f", "g", "h"}) responses.push_back(completion_with(code));
  EXPECT_EQ(openrlhf(responses, kTask, {{"wait", "0.01"}}).status, 503);
}

TEST_F(RewardRoutesTest, CallALongKernelBadAndNotTheRequest) {
  limits.source_bytes = 100;
  const auto reply = slime(completion_with(std::string(200, 'x')), kTask);
  EXPECT_EQ(reply.status, 200) << reply.body;
  EXPECT_DOUBLE_EQ(json_of(reply), 0.05) << "the thinking's form is paid, as where there is no code";
}

TEST_F(RewardRoutesTest, StandInTheDocumentOfTheService) {
  EXPECT_EQ(names_of(reward_routes(service().context(), suite)), documented_by("serve/rewards"));
}

TEST(RewardRoutes, DropOnlyTheTokensThatEndATurn) {
  EXPECT_EQ(without_end_tokens("a<|im_end|>\n<|endoftext|>"), "a");
  EXPECT_EQ(without_end_tokens("a</s></s>"), "a");
  for (const char* kept : {"", " \n", "a |>", "a\n", "<|", "x = '<|im_end|>' + y"})
    EXPECT_EQ(without_end_tokens(kept), kept);
}

}  // namespace
}  // namespace tritonsmith::serve
