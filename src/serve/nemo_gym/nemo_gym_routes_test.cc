// NeMo Gym's interface, against a service whose judge is a fake.
#include "serve/nemo_gym/nemo_gym_routes.h"

#include <gmock/gmock.h>

#include "gym/service/testing/service_fixture.h"
#include "serve/jobs/testing/documented.h"

namespace tritonsmith::serve::nemo_gym {
namespace {

using ::testing::HasSubstr;

struct NemoGymTest : gym::service::ServiceFixture {
  gym::service::HttpReply post(const std::string& path, const Json& body,
                               const std::map<std::string, std::string>& query = {}) {
    if (!added_) service().add(nemo_gym_routes(service().context(), suite));
    added_ = true;
    return call("POST", path, body.dump(), query);
  }
  static Json response_with(const std::string& text) {
    return {{"output",
             {{{"type", "reasoning"}, {"summary", Json::array()}},
              {{"type", "message"},
               {"role", "assistant"},
               {"content", {{{"type", "output_text"}, {"text", text}}}}}}}};
  }
  static Json row_with(const std::string& text) {
    return {{"responses_create_params", {{"input", "Write a kernel."}}},
            {"response", response_with(text)},
            {"verifier_metadata", {{"task", "level1/19_ReLU"}}},
            {"_ng_task_index", 3}};
  }
  const std::string whole = "<thinking>p</thinking><answer>\n```python\nx = 1\n```\n</answer>";
  const Suite suite{{Task{.id = "level1/19_ReLU", .source = "class Model: pass\n"}}};

 private:
  bool added_ = false;
};

TEST_F(NemoGymTest, VerifiesARolloutAndGivesTheRowBack) {
  EXPECT_EQ(json_of(post("/seed_session", Json::object())), Json::object());
  const Json reply = json_of(post("/verify", row_with(whole)));
  EXPECT_DOUBLE_EQ(reply["reward"], 1.3);
  EXPECT_DOUBLE_EQ(reply["reward_components"]["correct"], 1.0);
  EXPECT_EQ(reply["accepted"], true);
  EXPECT_EQ(reply["responses_create_params"]["input"], "Write a kernel.");
  EXPECT_EQ(reply["_ng_task_index"], 3);
  EXPECT_DOUBLE_EQ(json_of(post("/verify", row_with("I cannot.")))["reward"], 0.0);
}

TEST_F(NemoGymTest, FindsTheTaskInALabelOrInTheRowItself) {
  Json row = row_with(whole);
  row.erase("verifier_metadata");
  EXPECT_EQ(post("/verify", row).status, 400);
  row["reference_code"] = "class Model: pass\n";
  EXPECT_DOUBLE_EQ(json_of(post("/verify", row))["reward"], 1.3);
  row["label"] = "none";
  EXPECT_THAT(post("/verify", row).body, HasSubstr("no task 'none'"));
}

TEST_F(NemoGymTest, HasNoRewardForAFaultOfOursAndNoneBeforeTheVerdict) {
  verdict_for = [](const gym::api::JudgeJob&) {
    Verdict verdict;
    verdict.fault = Fault::infrastructure;
    return verdict;
  };
  EXPECT_EQ(post("/verify", row_with(whole)).status, 503);
  hold = true;
  const auto early = post("/verify", row_with(whole), {{"wait", "0.01"}});
  EXPECT_EQ(early.status, 503);
  EXPECT_FALSE(json_of(early).contains("reward"));
}

TEST_F(NemoGymTest, NamesWhatIsWrong) {
  for (const Json& odd : std::vector<Json>{
           Json::array(), {{"label", "x"}}, {{"response", 1}}, {{"response", {{"output", 1}}}}})
    EXPECT_EQ(post("/verify", odd).status, 422) << odd;
  EXPECT_EQ(post("/aggregate_metrics", {{"verify_responses", 1}}).status, 422);
  EXPECT_THAT(post("/aggregate_metrics", {{"verify_responses", {{{"x", 1}}}}}).body,
              HasSubstr("verify_responses[0]"));
}

TEST_F(NemoGymTest, AggregatesByTaskAndOverAll) {
  const Json responses = {{{"_ng_task_index", 0}, {"reward", 1.0}, {"accepted", true}},
                          {{"_ng_task_index", 0}, {"reward", 0.0}, {"accepted", false}},
                          {{"_ng_task_index", 1}, {"reward", 0.5}, {"accepted", false}}};
  const Json figures = json_of(post("/aggregate_metrics", {{"verify_responses", responses}}));
  EXPECT_EQ(figures["group_level_metrics"].size(), 2U);
  EXPECT_DOUBLE_EQ(figures["group_level_metrics"][0]["mean/reward"], 0.5);
  EXPECT_DOUBLE_EQ(figures["agent_metrics"]["median/reward"], 0.5);
  EXPECT_DOUBLE_EQ(figures["agent_metrics"]["std/reward"], 0.5);
  EXPECT_NEAR(figures["key_metrics"]["mean/accepted"], 1.0 / 3, 1e-12);
  EXPECT_EQ(
      json_of(post("/aggregate_metrics", {{"verify_responses", Json::array()}}))["agent_metrics"],
      Json::object());
}

TEST_F(NemoGymTest, StandsInTheDocumentOfTheService) {
  EXPECT_EQ(names_of(nemo_gym_routes(service().context(), suite)), documented_by("serve/nemo_gym"));
}

}  // namespace
}  // namespace tritonsmith::serve::nemo_gym
