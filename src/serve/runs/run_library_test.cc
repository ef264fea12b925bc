#include "serve/runs/run_library.h"

#include <gtest/gtest.h>

#include <fstream>

#include "base/file.h"
#include "base/temp_dir.h"

namespace tritonsmith::serve::runs {
namespace {

namespace fs = std::filesystem;

Sample sample_of(int member, int turn, const std::string& kernel, bool is_accepted) {
  Sample sample{.step = 3, .member = member, .turn = turn, .task_id = "relu", .kernel = kernel};
  sample.prompt = "write relu";
  sample.completion.text = "here: " + kernel;
  sample.verdict.accepted = is_accepted;
  if (!is_accepted && !kernel.empty())
    sample.verdict.error = VerdictError{.error_class = ErrorClass::wrong_value, .message = "no"};
  sample.reward.total = is_accepted ? 1 : 0;
  return sample;
}

class Runs : public testing::Test {
 protected:
  Runs() {
    EXPECT_TRUE(make_directories(run_));
    EXPECT_TRUE(write_file_atomic(run_ / "config.toml", "seed = 1\n"));
    EXPECT_TRUE(
        write_file_atomic(run_ / "steps.jsonl",
                          "{\"schema\":1,\"step\":1,\"phase\":\"rl\",\"loss\":2.5}\n"
                          "{\"schema\":1,\"step\":2,\"phase\":\"rl\",\"loss\":null}\n"
                          "{\"schema\":1,\"step\":3,\"phase\":\"rl\",\"loss\":1.5}\n{\"st"));
    append(sample_of(0, 0, "a", false));
    append(sample_of(1, 0, "", false));
    append(sample_of(0, 1, "b", true));
  }
  void append(const Sample& sample, const std::string& end = "\n") {
    std::ofstream(run_ / "samples.jsonl", std::ios::app) << to_line(to_json(sample)) << end;
  }
  std::unique_ptr<RunLibrary> library() const {
    return *RunLibrary::open(folder_.path(), [](const Verdict& verdict) {
      return std::string(verdict.accepted ? "right" : "wrong");
    });
  }
  TempDir folder_ = *TempDir::make("runs");
  fs::path run_ = folder_.path() / "first" / "rl";
};

TEST_F(Runs, AreFoundBelowTheFolder) {
  EXPECT_TRUE(make_directories(run_ / "checkpoints" / "step-1"));
  EXPECT_TRUE(write_file_atomic(run_ / "checkpoints" / "step-1" / "steps.jsonl", ""));
  const Json list = *library()->list();
  ASSERT_EQ(list["runs"].size(), 1U) << list;
  EXPECT_EQ(list["runs"][0]["name"], "first/rl");
  EXPECT_EQ(list["runs"][0]["samples"], true);
  EXPECT_EQ(list["runs"][0]["evaluation"], false);
  EXPECT_FALSE(RunLibrary::open(folder_.path() / "none", {}));
}

TEST_F(Runs, HaveCurvesConfigAndSamples) {
  const auto shown = library()->show("first/rl");
  ASSERT_TRUE(shown) << shown.error().message;
  const Json& run = **shown;
  EXPECT_EQ(run["config"], "seed = 1\n");
  EXPECT_EQ(run["curves"]["loss"], Json::parse("[[1,2.5],[3,1.5]]"));
  ASSERT_EQ(run["samples"].size(), 3U);
  EXPECT_EQ(run["samples"][0]["result"], "wrong_value");
  EXPECT_EQ(run["samples"][1]["result"], "no_kernel");
  EXPECT_EQ(run["samples"][2]["result"], "accepted");
  EXPECT_EQ(run["left_out"], 0);
}

TEST_F(Runs, ShowAConversationTurnByTurn) {
  const auto shown = library()->conversation("first/rl", 2);
  ASSERT_TRUE(shown) << shown.error().message;
  const Json& turns = (**shown)["turns"];
  ASSERT_EQ(turns.size(), 2U);
  EXPECT_EQ(turns[0]["kernel"], "a");
  EXPECT_EQ(turns[0]["words"], "wrong");
  EXPECT_EQ(turns[1]["kernel"], "b");
  EXPECT_EQ(turns[1]["text"], "here: b");
  EXPECT_EQ(turns[1]["row"]["number"], 2);
}

TEST_F(Runs, ChooseOnlyWhatWasFound) {
  const auto runs = library();
  for (const char* name : {"", "first", "../first/rl", "/etc", "first/rl/../rl", "first/rl/"})
    EXPECT_FALSE(runs->show(name)->has_value()) << name;
  EXPECT_FALSE(runs->conversation("first/rl", 3)->has_value());
}

TEST_F(Runs, GrowWhileSomebodyReadsThem) {
  const auto runs = library();
  EXPECT_EQ((**runs->show("first/rl"))["samples"].size(), 3U);
  append(sample_of(2, 0, "c", true), "");
  EXPECT_EQ((**runs->show("first/rl"))["samples"].size(), 3U) << "the line is not complete";
  std::ofstream(run_ / "samples.jsonl", std::ios::app) << "\n";
  EXPECT_EQ((**runs->show("first/rl"))["samples"].size(), 4U);
  EXPECT_EQ((**runs->conversation("first/rl", 3))["turns"][0]["kernel"], "c");
  fs::remove(run_ / "samples.jsonl");
  append(sample_of(0, 0, "d", true));
  EXPECT_EQ((**runs->show("first/rl"))["samples"].size(), 1U) << "the run went back";
}

TEST_F(Runs, ListTheFactsOfASampleAsItsRecordHasThem) {
  Sample sample = sample_of(5, 1, "k \"quoted\" {", false);
  sample.task_id = "task \\ \"of\" \u00fc";
  sample.group = 7;
  sample.verdict.speedup = 1.25;
  sample.reward.total = -0.5;
  sample.completion.tokens = {1, 2, 3};
  sample.completion.logprobs = {-0.5F, -0.25F, 0};
  append(sample);
  sample.completion.tokens.clear();
  sample.completion.usage = {.prompt_tokens = 9, .completion_tokens = 40};
  append(sample);
  const auto shown = library()->show("first/rl");
  ASSERT_TRUE(shown) << shown.error().message;
  Json row = (**shown)["samples"][3];
  EXPECT_EQ(row, Json({{"number", 3},
                       {"step", 3},
                       {"group", 7},
                       {"member", 5},
                       {"turn", 1},
                       {"task", sample.task_id},
                       {"result", "wrong_value"},
                       {"speedup", 1.25},
                       {"reward", -0.5},
                       {"tokens", 3}}));
  EXPECT_EQ((**shown)["samples"][4]["tokens"], 40);
}

TEST_F(Runs, SayWhichRecordIsDamaged) {
  std::ofstream(run_ / "samples.jsonl", std::ios::app) << "{\"step\": 1}\n";
  const auto shown = library()->show("first/rl");
  ASSERT_FALSE(shown);
  EXPECT_NE(shown.error().message.find("samples.jsonl: line 4: "), std::string::npos)
      << shown.error().message;
}

}  // namespace
}  // namespace tritonsmith::serve::runs
