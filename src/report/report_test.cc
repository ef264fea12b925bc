#include "report/report.h"

#include <gtest/gtest.h>

#include <fstream>

#include "base/temp_dir.h"
#include "report/chart.h"
#include "report/html.h"

namespace tritonsmith::report {
namespace {

namespace fs = std::filesystem;

Evaluation example(const std::string& name, double accepted) {
  return {.name = name,
          .suite = "curriculum",
          .model = "m",
          .policy = "strict",
          .backend = "evaluate",
          .tasks = 100,
          .samples = 8,
          .sampled = {0.9, 0.6, accepted},
          .greedy = {0.9, 0.7, accepted},
          .pass_at = {{1, accepted}, {8, 0.875}},
          .errors = {{"wrong_value", 12}},
          .findings = {{"torch_compute", 3}}};
}

TEST(Evaluation, ComesBackFromItsJsonUnchanged) {
  const Json json = to_json(example("sft", 0.5));
  const auto again = evaluation_from_json(json);
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(to_json(*again), json);
}

TEST(Report, ReadsADirectoryOfRunsAndShowsWhatTheyRecorded) {
  auto dir = TempDir::make("report-test");
  ASSERT_TRUE(dir);
  fs::create_directories(dir->path() / "rl");
  std::ofstream(dir->path() / "rl" / "steps.jsonl")
      << "{\"step\":1,\"reward/mean\":0.1}\n{\"step\":2,\"reward/mean\":0.4}\n{\"step\":3,\"rew";
  std::ofstream(dir->path() / "rl" / "evaluation.json") << to_line(to_json(example("rl", 0.625)));
  Sample sample{.step = 1, .task_id = "task<1>"};
  sample.completion.text = "a < b";
  sample.verdict.error = VerdictError{"wrong_value", "element 3", "", 0};
  std::ofstream(dir->path() / "rl" / "samples.jsonl") << to_line(to_json(sample)) << "\n";
  const auto runs = read_runs(dir->path());
  ASSERT_TRUE(runs) << runs.error().message;
  const std::string html = render_report("Run", *runs);
  EXPECT_NE(html.find("62.5 %"), std::string::npos);
  EXPECT_NE(html.find("<svg"), std::string::npos);
  EXPECT_NE(html.find("a &lt; b"), std::string::npos);
  EXPECT_NE(html.find("task&lt;1&gt;"), std::string::npos);
  EXPECT_EQ(html.find("task<1>"), std::string::npos);
}

TEST(Report, NamesTheDamagedRecord) {
  auto dir = TempDir::make("report-test");
  ASSERT_TRUE(dir);
  std::ofstream(dir->path() / "steps.jsonl") << "{\"step\":1}\nbroken\n{\"step\":2}\n";
  const auto runs = read_runs(dir->path());
  ASSERT_FALSE(runs);
  EXPECT_NE(runs.error().message.find("steps.jsonl:2: not valid JSON"), std::string::npos);
  EXPECT_FALSE(read_runs("/no/such/run"));
}

TEST(Report, TableLinesUp) {
  const std::string table = evaluation_table({example("untrained", 0), example("rl", 0.625)});
  const std::size_t width = table.find('\n');
  for (std::size_t at = 0; at < table.size(); at += width + 1) EXPECT_EQ(table[at + width], '\n');
}

TEST(Chart, SmoothingKeepsAConstantAndTheLength) {
  const std::vector<Point> flat(50, {1, 3});
  const auto result = smoothed(flat, 7);
  ASSERT_EQ(result.size(), flat.size());
  for (const Point& point : result) EXPECT_DOUBLE_EQ(point.y, 3);
}

}  // namespace
}  // namespace tritonsmith::report
