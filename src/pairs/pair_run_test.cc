#include "pairs/pair_run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/file.h"
#include "base/temp_dir.h"
#include "gym/api/testing/fake_judge.h"

namespace tritonsmith::pairs {
namespace {

using gym::api::FakeJudge;
using gym::api::JudgeJob;

Task task(const std::string& name) {
  Task made;
  made.id = name;
  made.source = "source of " + name;
  made.origin = Origin{.dataset = "set", .licences = {"mit"}};
  return made;
}

// The kernels of modules whose names begin with "good" are right, but not a "wrong form" of them; "none"
// has no solution.
Verdict verdict_on(const JudgeJob& job) {
  return job.task.id.starts_with("good") && !job.kernel.starts_with("wrong form")
             ? gym::api::accepted_verdict()
             : gym::api::failed_verdict(Stage::compiled, ErrorClass::wrong_value);
}

class PairRun : public testing::Test {
 protected:
  void SetUp() override {
    auto made = TempDir::make("pairs");
    ASSERT_TRUE(made);
    folder_ = std::make_unique<TempDir>(*std::move(made));
    options_.directory = folder_->path() / "out";
  }

  Result<PairCounts> run(const std::vector<Task>& tasks) {
    const auto write = [&](const std::string& source, const PairWriter::Done& done) {
      ++written_;
      if (source.find("none") != std::string::npos)
        return done({.kernel = {}, .reason = "graph_break", .message = "why"});
      if (source.find("broken") != std::string::npos)
        return done({.kernel = {}, .reason = "fault", .message = "no guest", .is_fault = true});
      if (source.find("unknown") != std::string::npos)
        return done(plain_or_given({.reason = "unknown_grid"}, "kernel for " + source));
      if (source.find("form") != std::string::npos)
        return done(plain_or_given(
            {.kernel = source.find("misread") != std::string::npos ? "wrong form" : "plain form"},
            "kernel for " + source));
      done({.kernel = "kernel for " + source});
    };
    return make_pairs(tasks, options_, write, judges_ ? &judge_ : nullptr,
                      [](const PairCounts&) {});
  }

  std::vector<Json> rows(const char* name) const {
    std::vector<Json> out;
    const auto lines = read_lines(options_.directory / name);
    if (!lines) return out;
    for (const std::string& line : *lines) out.push_back(*parse_json(line));
    return out;
  }

  FakeJudge judge_{verdict_on};
  PairOptions options_{.in_flight = 3};
  int written_ = 0;
  bool judges_ = true;

 private:
  std::unique_ptr<TempDir> folder_;
};

TEST_F(PairRun, KeepsWhatTheJudgeAcceptsWithVerdictAndOrigin) {
  const auto counts = run({task("good 1"), task("bad"), task("none"), task("good 2")});
  ASSERT_TRUE(counts) << counts.error().message;
  EXPECT_EQ(counts->accepted, 2U);
  EXPECT_EQ(counts->rejected, 1U);
  EXPECT_EQ(counts->failed, 1U);
  EXPECT_EQ(counts->reasons.at("graph_break"), 1U);
  const auto pairs = rows("pairs.jsonl");
  ASSERT_EQ(pairs.size(), 2U);
  EXPECT_EQ(pairs[0]["kernel"], "kernel for source of good 1");
  EXPECT_EQ(pairs[0]["verdict"]["accepted"], true);
  EXPECT_EQ(pairs[0]["origin"]["licenses"][0], "mit");
  EXPECT_EQ(rows("rejected.jsonl").size(), 1U);
  EXPECT_EQ(rows("failures.jsonl")[0]["message"], "why");
  EXPECT_EQ(judge_.jobs()[0].policy, Policy::fused);
}

TEST_F(PairRun, GoesOnWhereAnEarlierRunStopped) {
  ASSERT_TRUE(run({task("good 1"), task("bad"), task("none")}));
  const auto counts = run({task("good 1"), task("bad"), task("none"), task("good 2")});
  ASSERT_TRUE(counts) << counts.error().message;
  EXPECT_EQ(counts->before, 3U);
  EXPECT_EQ(counts->accepted, 1U);
  EXPECT_EQ(written_, 4);
  EXPECT_EQ(rows("pairs.jsonl").size(), 2U);
}

TEST_F(PairRun, MakesATaskAgainWhoseLineWasCutOff) {
  ASSERT_TRUE(run({task("good 1"), task("good 2")}));
  const auto file = options_.directory / "pairs.jsonl";
  const auto whole = read_file(file);
  ASSERT_TRUE(whole && write_file_atomic(file, whole->substr(0, whole->size() - 5)));
  const auto counts = run({task("good 1"), task("good 2")});
  ASSERT_TRUE(counts);
  EXPECT_EQ(counts->accepted, 1U);
  EXPECT_EQ(rows("pairs.jsonl").size(), 2U);
}

TEST_F(PairRun, KeepsSolutionsUnjudgedWithoutAJudge) {
  judges_ = false;
  const auto counts = run({task("good 1"), task("bad"), task("none")});
  ASSERT_TRUE(counts) << counts.error().message;
  EXPECT_EQ(counts->written, 2U);
  EXPECT_EQ(counts->failed, 1U);
  ASSERT_EQ(rows("written.jsonl").size(), 2U);
  EXPECT_EQ(rows("written.jsonl")[1]["kernel"], "kernel for source of bad");
  EXPECT_FALSE(std::filesystem::exists(options_.directory / "pairs.jsonl"));
  EXPECT_EQ(run({task("good 1"), task("bad"), task("none")})->before, 3U);
}

TEST_F(PairRun, ARowSaysWhetherItsGivenSolutionWasRewritten) {
  const auto counts = run({task("good form"), task("good unknown"), task("good misread form"),
                           task("bad form"), task("bad misread form"), task("good 1")});
  ASSERT_TRUE(counts) << counts.error().message;
  EXPECT_EQ(counts->accepted, 4U);
  EXPECT_EQ(counts->rejected, 2U);
  EXPECT_EQ(counts->plain, 4U);
  EXPECT_EQ(counts->plain_accepted, 1U);
  EXPECT_EQ(counts->kept,
            (std::map<std::string, std::size_t>{{"unknown_grid", 1}, {"not_accepted", 1}}));
  EXPECT_EQ(counts->reasons.at("wrong_value"), 2U);
  std::map<std::string, Json> by_task;
  for (const char* file : {"pairs.jsonl", "rejected.jsonl"})
    for (const Json& row : rows(file)) by_task[row["task"]] = row;
  EXPECT_EQ(by_task["good form"]["kernel"], "plain form");
  EXPECT_EQ(by_task["good form"]["form"], "plain");
  EXPECT_EQ(by_task["good unknown"]["kernel"], "kernel for source of good unknown");
  EXPECT_EQ(by_task["good unknown"]["form"], "given");
  EXPECT_EQ(by_task["good unknown"]["kept_because"], "unknown_grid");
  EXPECT_EQ(by_task["good misread form"]["kernel"], "kernel for source of good misread form");
  EXPECT_EQ(by_task["good misread form"]["kept_because"], "not_accepted");
  EXPECT_EQ(by_task["bad misread form"]["kernel"], "wrong form") << "neither form is right";
  EXPECT_EQ(by_task["bad misread form"]["form"], "plain");
  EXPECT_FALSE(by_task["good 1"].contains("form"));
}

TEST_F(PairRun, AFaultOfTheGuestsIsNoTasksFailure) {
  const auto counts = run({task("good 1"), task("broken")});
  ASSERT_FALSE(counts);
  EXPECT_EQ(counts.error().kind, ErrorKind::fault);
  EXPECT_TRUE(rows("failures.jsonl").empty());
}

}  // namespace
}  // namespace tritonsmith::pairs
