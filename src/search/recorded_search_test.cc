#include "search/recorded_search.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "base/temp_dir.h"
#include "search/search_log.h"

namespace tritonsmith::search {
namespace {

using ::testing::HasSubstr;

class RecordedSearchTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto made = TempDir::make("recorded-search");
    ASSERT_TRUE(made);
    folder_.emplace(*std::move(made));
  }
  void record(const std::string& task, const Json& event) {
    auto file = SearchFile::open(folder_->path() / "search.jsonl");
    ASSERT_TRUE(file);
    ASSERT_TRUE(file->append(task, event));
  }
  void ask(const std::string& task, const Ask& asked) {
    record(task, {{"event", "asked"}, {"ask", to_json(asked)}});
  }
  void answer(int number) {
    record("a", {{"event", "written"},
                 {"number", number},
                 {"text", "```python\nclass ModelNew: pass\n```"},
                 {"finish", "stop"},
                 {"usage", to_json(Usage{.prompt_tokens = 2, .completion_tokens = 3})},
                 {"cost", 0.5}});
  }
  void judge(int number) {
    record("a", {{"event", "judged"},
                 {"number", number},
                 {"verdict", to_json(Verdict{.correct = true, .accepted = true})},
                 {"seconds", 4}});
  }
  std::string error() {
    const auto searches = read_searches(folder_->path());
    return searches ? "" : searches.error().message;
  }
  std::optional<TempDir> folder_;
};

TEST_F(RecordedSearchTest, KnowsTheAttemptsTheirCostAndTheTask) {
  ASSERT_TRUE(keep_tasks(folder_->path(), std::vector<Task>{{.id = "a", .source = "the module"}}));
  ask("a", {.number = 0});
  answer(0);
  ask("b", {.number = 0});
  judge(0);
  record("a", {{"event", "ended"}, {"why", "enough"}});
  std::ofstream(folder_->path() / "search.jsonl", std::ios::app) << R"({"event": "as)";
  const auto searches = read_searches(folder_->path());
  ASSERT_TRUE(searches) << searches.error().message;
  ASSERT_EQ(searches->size(), 2U);
  const RecordedSearch& first = searches->front();
  EXPECT_EQ(first.task, "a");
  EXPECT_EQ(first.source, "the module");
  EXPECT_EQ(first.why_over, "enough");
  EXPECT_EQ(first.history.best(), 0);
  EXPECT_EQ(first.history.spent().tokens, 5);
  EXPECT_EQ(first.history.spent().money, 0.5);
  EXPECT_EQ(first.history.attempt(0)->kernel, "class ModelNew: pass\n");
  EXPECT_EQ(first.history.attempt(0)->seconds, 4);
  const RecordedSearch& second = searches->back();
  EXPECT_EQ(second.source, "") << "the folder does not hold this task";
  EXPECT_EQ(second.why_over, "");
  EXPECT_EQ(second.history.in_flight(), 1);
}

TEST_F(RecordedSearchTest, RefusesAnAttemptThatFollowsFromNone) {
  ask("a", {.number = 0, .parent = 3});
  EXPECT_THAT(error(), HasSubstr("search.jsonl: a: the record of the search: ask 0 follows from "
                                 "attempt 3"));
}

TEST_F(RecordedSearchTest, RefusesAnEditOfAnAttemptWithoutVerdict) {
  ask("a", {.number = 0});
  ask("a", {.number = 1, .kind = AskKind::ptx, .parent = 0, .edited = "k"});
  EXPECT_THAT(error(), HasSubstr("ask 1 edits the PTX of an attempt that was not judged"));
}

TEST_F(RecordedSearchTest, RefusesAnAnswerAfterItsVerdict) {
  ask("a", {.number = 0});
  answer(0);
  judge(0);
  answer(0);
  EXPECT_THAT(error(), HasSubstr("attempt 0 was written after it was judged"));
}

}  // namespace
}  // namespace tritonsmith::search
