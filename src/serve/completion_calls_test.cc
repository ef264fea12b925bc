#include "serve/completion_calls.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "data/verdict.h"

namespace tritonsmith::serve {
namespace {

using ::testing::HasSubstr;

Json call(std::string_view path, const Json& body) {
  const auto answer = answer_completion_call(path, body.dump());
  EXPECT_TRUE(answer) << path;
  EXPECT_TRUE(*answer) << (*answer ? "" : (*answer).error().message);
  return answer && *answer ? **answer : Json();
}

std::string refusal(std::string_view path, std::string_view body) {
  const auto answer = answer_completion_call(path, body);
  return answer && !*answer ? answer->error().message : "";
}

Json accepted() {
  return to_json(Verdict{.stage = Stage::timed,
                         .compiled = true,
                         .correct = true,
                         .accepted = true,
                         .speedup = 2.0,
                         .coverage = 0.5});
}

const std::string kWhole = "<thinking>p</thinking><answer>\n```python\nx = 1\n```\n</answer>";

TEST(CompletionCalls, LeaveOtherPathsToOthers) {
  EXPECT_FALSE(answer_completion_call("/v1/jobs", "{}"));
  EXPECT_FALSE(answer_completion_call("/v1/rewards/", "{}"));
}

TEST(CompletionCalls, AskForATaskAsTheTrainerDoes) {
  const Json reply = call("/v1/prompts", {{"tasks", {{{"source", "class Model: pass\n"}}}},
                                          {"system", "You write kernels."}});
  const Json messages = reply["prompts"][0];
  EXPECT_EQ(messages[0], (Json{{"role", "system"}, {"content", "You write kernels."}}));
  EXPECT_EQ(messages[1]["role"], "user");
  EXPECT_THAT(messages[1]["content"].get<std::string>(), HasSubstr("class Model: pass"));
  EXPECT_EQ(call("/v1/prompts", {{"tasks", {{{"source", "a = 1\n"}}}},
                                 {"style", "compact"}})["prompts"][0][0]["content"],
            "a = 1");
}

TEST(CompletionCalls, ExtractTheKernelOrTellWhyThereIsNone) {
  const Json kernels = call("/v1/extract", {{"completions", {kWhole, "I cannot."}}})["kernels"];
  EXPECT_EQ(kernels[0]["source"], "x = 1\n");
  EXPECT_FALSE(kernels[0].contains("verdict"));
  EXPECT_EQ(kernels[1]["source"], "");
  EXPECT_EQ(kernels[1]["verdict"]["error"]["class"], "no_kernel");
  EXPECT_EQ(kernels[1]["findings"][1]["rule"], "no_code");
}

TEST(CompletionCalls, TurnVerdictsIntoFeedback) {
  const Json reply = call("/v1/feedback", {{"verdicts", {accepted()}}, {"style", "compact"}});
  EXPECT_EQ(reply["feedback"][0], "right, speed-up 2.00, faster please");
}

TEST(CompletionCalls, PayAnswersByTheWeightsThatEachNames) {
  const Json plain = {{"verdict", accepted()}, {"completion", kWhole}};
  Json weighted = plain;
  weighted["weights"] = {{"speed", 1}, {"speed_cap", 1.5}, {"format", 0}, {"compiled", 0}};
  const Json bare = {{"verdict", accepted()}};
  const Json rewards = call("/v1/rewards", {{"answers", {plain, weighted, bare}}})["rewards"];
  EXPECT_DOUBLE_EQ(rewards[0]["total"], 0.1 + 0.2 + 1.0);
  EXPECT_DOUBLE_EQ(rewards[1]["total"], 1.0 + 1.5);
  EXPECT_DOUBLE_EQ(rewards[2]["total"], 0.2 + 1.0);
  EXPECT_EQ(rewards[0]["terms"][0]["name"], "format");
}

TEST(CompletionCalls, GiveNoRewardForAFaultOfOurs) {
  Json verdict = to_json(Verdict{.fault = Fault::infrastructure});
  const Json answers = {{{"verdict", verdict}, {"completion", kWhole}}};
  EXPECT_TRUE(call("/v1/rewards", {{"answers", answers}})["rewards"][0].is_null());
}

TEST(CompletionCalls, CompareWithASolution) {
  const Json answers = {{{"verdict", accepted()},
                         {"completion", kWhole},
                         {"solution", "x = 1\n"},
                         {"weights", {{"similarity", 1}}}}};
  EXPECT_DOUBLE_EQ(call("/v1/rewards", {{"answers", answers}})["rewards"][0]["total"], 2.3);
}

TEST(CompletionCalls, NameTheMemberAtFault) {
  EXPECT_NE(refusal("/v1/extract", "{"), "");
  EXPECT_NE(refusal("/v1/extract", "[]"), "");
  EXPECT_THAT(refusal("/v1/extract", R"({"completion": []})"), HasSubstr("completions"));
  EXPECT_THAT(refusal("/v1/extract", R"({"completions": ["a", 2]})"), HasSubstr("completions[1]"));
  EXPECT_THAT(refusal("/v1/feedback", R"({"verdicts": [{}]})"), HasSubstr("verdicts[0]"));
  EXPECT_THAT(refusal("/v1/prompts", R"({"tasks": [{"source": 1}]})"), HasSubstr("source"));
  EXPECT_THAT(refusal("/v1/prompts", R"({"tasks": [], "style": "long"})"), HasSubstr("style"));
  EXPECT_THAT(refusal("/v1/rewards", R"({"answers": [{"verdct": {}}]})"), HasSubstr("verdict"));
  Json answer = {{"verdict", accepted()}, {"weights", {{"speed", 1e308}}}};
  EXPECT_THAT(refusal("/v1/rewards", Json{{"answers", {answer}}}.dump()),
              HasSubstr("must lie between 0 and"));
  answer = {{"verdict", accepted()}, {"weights", {{"sped", 1}}}};
  EXPECT_THAT(refusal("/v1/rewards", Json{{"answers", {answer}}}.dump()), HasSubstr("'speed'"));
  answer = {{"verdict", accepted()}, {"completion", kWhole}, {"weights", {{"similarity", 1}}}};
  answer["solution"] = std::string(65'537, 'x');
  EXPECT_THAT(refusal("/v1/rewards", Json{{"answers", {answer}}}.dump()), HasSubstr("65536 bytes"));
  answer["solution"] = std::string(65'000, 'x');
  const Json long_ones = {{"answers", std::vector<Json>(70, answer)}};
  EXPECT_THAT(refusal("/v1/rewards", long_ones.dump()), HasSubstr("several requests"));
  const Json many = {{"completions", std::vector<std::string>(kMostItems + 1)}};
  EXPECT_THAT(refusal("/v1/extract", many.dump()), HasSubstr("at most 1000"));
}

TEST(CompletionCalls, TakeLongCompletionsWhereNothingIsCompared) {
  const std::string reasoned = "<thinking>" + std::string(300'000, 'p') + kWhole.substr(11);
  const Json answer = {{"verdict", accepted()}, {"completion", reasoned}, {"solution", reasoned}};
  EXPECT_DOUBLE_EQ(call("/v1/rewards", {{"answers", {answer}}})["rewards"][0]["total"],
                   0.1 + 0.2 + 1.0);
}

TEST(CompletionCalls, StandInTheDocumentOfTheService) {
  std::ifstream file("docs/openapi.json");  // tests run in the root of the tree
  ASSERT_TRUE(file);
  std::vector<std::string> documented;
  const Json document = Json::parse(file);
  for (const auto& [path, methods] : document["paths"].items())
    if (methods.contains("post") && methods["post"].value("x-served-by", "") == "serve")
      documented.push_back(path);
  const auto served = completion_call_paths();
  EXPECT_THAT(documented, ::testing::UnorderedElementsAreArray(served.begin(), served.end()));
}

}  // namespace
}  // namespace tritonsmith::serve
