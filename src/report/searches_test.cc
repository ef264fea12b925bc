#include "report/searches.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "base/temp_dir.h"
#include "report/report.h"
#include "search/search_log.h"

namespace tritonsmith::report {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

Verdict timed_verdict(double speedup) {
  Verdict verdict{.stage = Stage::timed, .correct = true, .accepted = true};
  verdict.time_ms = Timing{.median = 3 / speedup};
  verdict.reference_ms = Timing{.median = 3};
  verdict.speedup = speedup;
  verdict.baselines = {{"eager", Timing{.median = 2}}};
  verdict.speed_of_light = SpeedOfLight{.ms = 1, .share = speedup / 3};
  return verdict;
}

Verdict wrong_verdict() {
  Verdict verdict{.stage = Stage::ran};
  verdict.error = VerdictError{.error_class = ErrorClass::wrong_value, .message = "x < y"};
  verdict.findings = {{"no_kernel_work", Severity::warn, 2, "nothing"}};
  return verdict;
}

// Writes the records of searches as `write --records` and `eval --search` do.
class SearchReport : public ::testing::Test {
 protected:
  void SetUp() override {
    auto made = TempDir::make("searches-test");
    ASSERT_TRUE(made);
    folder_.emplace(*std::move(made));
  }
  void record(const std::string& task, const Json& event) {
    auto file = search::SearchFile::open(folder_->path() / "search.jsonl");
    ASSERT_TRUE(file);
    ASSERT_TRUE(file->append(task, event));
  }
  void ask(const std::string& task, const search::Ask& ask) {
    record(task, {{"event", "asked"}, {"ask", search::to_json(ask)}});
  }
  void answer(const std::string& task, const search::Ask& asked, const std::string& text) {
    ask(task, asked);
    record(task, {{"event", "written"},
                  {"number", asked.number},
                  {"text", text},
                  {"finish", "stop"},
                  {"usage", search::to_json(Usage{.prompt_tokens = 100, .completion_tokens = 20})},
                  {"cost", 0.25}});
  }
  void attempt(const std::string& task, const search::Ask& asked, const std::string& kernel,
               const Verdict& verdict, int same_as = search::kNone) {
    answer(task, asked, "```python\n" + kernel + "\n```");
    Json judged = {{"event", "judged"},
                   {"number", asked.number},
                   {"verdict", to_json(verdict)},
                   {"seconds", 1.5 + asked.number}};
    if (same_as != search::kNone) judged["same_as"] = same_as;
    record(task, judged);
  }
  void keep(const std::vector<Task>& tasks) {
    ASSERT_TRUE(search::keep_tasks(folder_->path(), tasks));
  }
  // A search with a wrong kernel, two right ones, one of them twice, and an attempt in flight.
  void record_one_search() {
    keep({{.id = "relu", .source = "class Model: pass  # of the user"}});
    std::ofstream(folder_->path() / "options.json")
        << R"({"module": ["secret text"], "search.strategy": "beam"})";
    attempt("relu", {.number = 0}, "class ModelNew: wrong = 1 < 2", wrong_verdict());
    attempt("relu", {.number = 1, .parent = 0}, "class ModelNew: slow = 1", timed_verdict(1.2));
    attempt("relu", {.number = 2}, "class ModelNew: slow = 1", timed_verdict(1.2), 1);
    attempt("relu", {.number = 3, .parent = 1, .other = 0, .idea = "read <less>"},
            "class ModelNew: fast = 1", timed_verdict(1.5));
    ask("relu", {.number = 4, .parent = 3});
  }
  std::string html() {
    const auto runs = read_runs(folder_->path());
    EXPECT_TRUE(runs) << runs.error().message;
    return runs ? render_report("Search", *runs) : "";
  }

  std::optional<TempDir> folder_;
};

TEST_F(SearchReport, HasARowForEachAttempt) {
  record_one_search();
  const std::string html = this->html();
  for (const char* row :
       {"<tr><td>1</td><td>wrong_value</td><td></td><td></td><td>no_kernel_work</td><td>120</td>"
        "<td>0.2500</td><td>1.5</td><td></td></tr>",
        "<tr><td>2, changes 1</td><td>accepted</td><td>1.20</td><td>40 %</td>",
        "<tr><td>3</td><td>accepted, as attempt 2</td>",
        "<tr><td>4, changes 2 beside 1</td><td>accepted, the best</td><td>1.50</td><td>50 %</td>"
        "<td></td><td>120</td><td>0.2500</td><td>4.5</td><td>read &lt;less&gt;</td></tr>",
        "<tr><td>5, changes 4</td><td>not judged yet</td>"})
    EXPECT_THAT(html, HasSubstr(row));
  EXPECT_THAT(html, HasSubstr("2 of 3 different kernels verified; the others: wrong_value 1; 1 "
                              "answer repeated an earlier kernel. 480 tokens, cost 1.0000. The "
                              "search has not ended."));
}

TEST_F(SearchReport, DrawsTheBestSpeedUpAndTheShareOfTheSpeedOfLight) {
  record_one_search();
  const std::string html = this->html();
  for (const char* part :
       {"<figcaption>Best speed-up</figcaption>",
        "{&quot;name&quot;:&quot;best kernel&quot;,&quot;y&quot;:[null,1.2,1.2,1.5]}",
        "{&quot;name&quot;:&quot;PyTorch&quot;,&quot;y&quot;:[1.0,1.0,1.0,1.0]}",
        "{&quot;name&quot;:&quot;eager&quot;,&quot;y&quot;:[1.5,1.5,1.5,1.5]}",
        "<figcaption>Share of the speed of light</figcaption>",
        "{&quot;name&quot;:&quot;accepted&quot;,&quot;y&quot;:[0.0,1.0,1.0,2.0]}"})
    EXPECT_THAT(html, HasSubstr(part));
}

TEST_F(SearchReport, ShowsTheBestKernelBesideItsTask) {
  record_one_search();
  const std::string html = this->html();
  for (const char* part :
       {"The best kernel: attempt 4, changes 2 beside 1", "<h4>The task</h4><pre><code>",
        "<span class=\"com\"># of the user</span>", "<h4>The kernel</h4><pre><code>",
        "fast = <span class=\"num\">1</span>", "speed-up 1.50",
        "Other kernels, the best ones first", "wrong = <span class=\"num\">1</span> &lt;",
        "<td>search.strategy</td><td>&quot;beam&quot;</td>"})
    EXPECT_THAT(html, HasSubstr(part));
  EXPECT_THAT(html, Not(HasSubstr("secret text"))) << "the module is no setting";
}

TEST_F(SearchReport, HasNoEmptyColumnsAndNoSpeedWhereNothingWasTimed) {
  Verdict verdict{.stage = Stage::correct, .correct = true, .accepted = true};
  attempt("t", {.number = 0}, "class ModelNew: a = 1", verdict);
  attempt("t", {.number = 1}, "class ModelNew: b = 1", verdict);
  record("t", {{"event", "ended"}, {"why", "2 attempts were made"}});
  const std::string html = this->html();
  EXPECT_THAT(html, HasSubstr("<tr><th>attempt</th><th>result</th><th>tokens</th><th>cost</th>"
                              "<th>after s</th></tr>"));
  EXPECT_THAT(html, Not(HasSubstr("Best speed-up")));
  EXPECT_THAT(html, HasSubstr("<figcaption>Different kernels</figcaption>"));
  EXPECT_THAT(html, HasSubstr("The search ended: 2 attempts were made."));
}

TEST_F(SearchReport, FoldsTheSearchesOfASuiteAndCountsTheirAcceptedTasks) {
  attempt("a", {.number = 0}, "class ModelNew: a = 1", wrong_verdict());
  attempt("a", {.number = 1}, "class ModelNew: b = 1", timed_verdict(2));
  attempt("b", {.number = 0}, "class ModelNew: a = 1", wrong_verdict());
  attempt("b", {.number = 1}, "class ModelNew: c = 1", wrong_verdict());
  const std::string html = this->html();
  for (const char* part :
       {"<summary>a: 2 attempts, accepted, speed-up 2.00</summary>",
        "<summary>b: 2 attempts, none accepted</summary>",
        "<figcaption>Tasks with an accepted kernel</figcaption>", "&quot;y&quot;:[0.0,0.5]"})
    EXPECT_THAT(html, HasSubstr(part));
}

TEST_F(SearchReport, NamesADamagedRecord) {
  ask("t", {.number = 1});
  const auto runs = read_runs(folder_->path());
  ASSERT_FALSE(runs);
  EXPECT_THAT(runs.error().message,
              HasSubstr("search.jsonl: t: the record of the search: asks out of order"));
}

}  // namespace
}  // namespace tritonsmith::report
