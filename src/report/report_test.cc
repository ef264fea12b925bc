#include "report/report.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>

#include "base/temp_dir.h"
#include "report/charts.h"
#include "report/compare.h"
#include "report/failures.h"
#include "report/highlight.h"
#include "report/html.h"
#include "report/line_chart.h"
#include "report/markdown.h"
#include "report/tables.h"

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
          .greedy = Rates{0.9, 0.7, accepted},
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

TEST(Tables, HaveNoGreedyColumnWhereNothingWasGreedy) {
  Evaluation folder = example("folder", 0.5);
  folder.greedy.reset();
  EXPECT_FALSE(to_json(folder).contains("greedy"));
  const std::string alone = render_markdown("t", {folder});
  EXPECT_EQ(alone.find("greedy"), std::string::npos) << alone;
  const std::string both = render_markdown("t", {folder, example("model", 0.25)});
  EXPECT_NE(both.find("| folder | 90.0 % | 60.0 % | 50.0 % |  |"), std::string::npos) << both;
}

TEST(Tables, CountEverySampleWhereTasksHaveDifferentNumbersOfThem) {
  Evaluation folder = example("folder", 0.5);
  folder.tasks = 2;
  folder.samples = 1;
  folder.by_task = {{.id = "a", .samples = 1}, {.id = "b", .samples = 4}};
  folder.hack_rate = 0.2;
  folder.findings = {{"torch_compute", 1}};
  EXPECT_EQ(all_samples(folder), 5);
  const std::string text = render_markdown("t", {folder});
  EXPECT_NE(text.find("1 to 4 samples a task"), std::string::npos) << text;
  EXPECT_NE(text.find("| torch_compute | 20.0 % |"), std::string::npos) << text;
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
  sample.verdict.error = VerdictError{ErrorClass::wrong_value, "element 3", "", 0};
  sample.verdict.findings = {{"task_zeros_pass", Severity::warn, 0, ""},
                             {"hooks", Severity::warn, 2, ""}};
  std::ofstream(dir->path() / "rl" / "samples.jsonl") << to_line(to_json(sample)) << "\n";
  const auto runs = read_runs(dir->path());
  ASSERT_TRUE(runs) << runs.error().message;
  const std::string html = render_report("Run", *runs);
  EXPECT_NE(html.find("62.5 %"), std::string::npos);
  EXPECT_NE(html.find("<svg"), std::string::npos);
  EXPECT_NE(html.find("a &lt; b"), std::string::npos);
  EXPECT_NE(html.find("task&lt;1&gt;"), std::string::npos);
  EXPECT_EQ(html.find("task<1>"), std::string::npos);
  EXPECT_NE(html.find("Of their 1 tasks the linter marks 1: task&lt;1&gt; (task_zeros_pass)."),
            std::string::npos);
}

Sample training_sample() {
  Sample sample{.step = 12, .group = 3, .member = 5, .task_id = "relu", .prompt = "Write <relu>."};
  sample.completion.text = "<thinking>x</thinking>";
  sample.kernel = "import triton\nx = 'a<b'  # why\n";
  sample.verdict.stage = Stage::ran;
  sample.verdict.error = VerdictError{ErrorClass::wrong_value, "\x1b[31mred", "x = 'a<b'", 2};
  sample.reward = {.total = 0.3, .terms = {{"format", 1, 0.1}, {"compiled", 1, 0.2}}};
  sample.advantage = -0.75;
  return sample;
}

TEST(Report, ShowsWhatASampleWasAskedAndWhatItEarned) {
  RunRecords run{.name = "rl", .samples = {training_sample()}};
  const std::string html = render_report("Run", {run});
  for (const char* part :
       {"Write &lt;relu&gt;.", "step 12, group 3, sample 5", "advantage -0.75",
        "<td>compiled</td><td>1</td><td>0.2</td><td>0.200</td>",
        "<td>reward</td><td></td><td></td><td>0.300</td>", "<span class=\"key\">import</span>",
        "<span class=\"str\">'a&lt;b'</span>", "<span class=\"com\"># why</span>", "class=\"here\"",
        "line 2: \\u001b[31mred"})
    EXPECT_NE(html.find(part), std::string::npos) << part;
  EXPECT_EQ(html.find('\x1b'), std::string::npos) << "control characters are shown, not sent";
}

TEST(Report, TellsCorrectFromAccepted) {
  Sample refused = training_sample();
  refused.verdict = {.correct = true, .findings = {{"torch_compute", Severity::reject, 1, "m"}}};
  const std::string html = render_report("Run", {{.name = "rl", .samples = {refused}}});
  EXPECT_NE(html.find(">correct</span><span class=\"badge bad\">refused</span>"),
            std::string::npos);
  Evaluation e = example("rl", 0.5);
  EXPECT_NE(render_report("Run", {{.name = "e", .evaluations = {e}}})
                .find("50.0 % accepted, 60.0 % correct"),
            std::string::npos);
}

TEST(Report, HasContentsConfigAndWhoMadeIt) {
  RunRecords run{.name = "rl",
                 .samples = {training_sample()},
                 .settings = {{"run.steps", 120}},
                 .calls = {{"tritonsmith 0.1.0, commit abc", "2026-11-23T18:05:00Z", 0},
                           {"tritonsmith 0.1.0, commit def", "2026-11-24T18:05:00Z", 40}}};
  const std::string html = render_report("Run", {run});
  for (const char* part : {"<a href=\"#part-1\">What went wrong</a>", "id=\"part-3\"",
                           "begun 2026-11-23T18:05:00Z by tritonsmith 0.1.0, commit abc",
                           "commit def, after step 40", "<td>run.steps</td><td>120</td>"})
    EXPECT_NE(html.find(part), std::string::npos) << part;
}

TEST(Curves, AreDrawnOfEveryNumberThatWasRecorded) {
  RunRecords run{.name = "rl"};
  for (const char* metric : {"reward/mean", "stage/compiled", "clip_fraction", "seconds/judge",
                             "turn_2/reward", "something_new", "kl"})
    for (int step = 1; step <= 3; ++step)
      run.metrics[metric].push_back({1.0 * step, std::string_view(metric) == "kl" ? 0.0 : step});
  const std::string html = render_charts(run);
  for (const char* part : {"<h3>Reward</h3>", "How far samples come", "clip_fraction", "judge",
                           "<h3>Turns</h3>", "something_new", "Always 0: kl.", "data-chart="})
    EXPECT_NE(html.find(part), std::string::npos) << part;
}

TEST(Curves, SayWhyTheRewardFallsWhereAStageStoppedPaying) {
  RunRecords run{.name = "rl"};
  const double weights[] = {0.2, 0.2, 0.1, 0}, compiled[] = {0.5, 0.9, 0.95, 1};
  for (int i = 0; i < 4; ++i) {
    run.metrics["reward_weight/compiled"].push_back({i + 1.0, weights[i]});
    run.metrics["reward_weight/correct"].push_back({i + 1.0, 1});
    run.metrics["reward/compiled"].push_back({i + 1.0, compiled[i]});
    run.metrics["reward/mean"].push_back({i + 1.0, weights[i] * compiled[i]});
  }
  const auto sentences = saturated_stages(run);
  ASSERT_EQ(sentences.size(), 1U);
  EXPECT_NE(sentences[0].find("The term compiled pays less from step 3 on and nothing at step 4"),
            std::string::npos)
      << sentences[0];
  const auto kept = reward_at_first_weights(run);
  ASSERT_EQ(kept.size(), 4U);
  EXPECT_DOUBLE_EQ(kept[0].y, 0.1);
  EXPECT_DOUBLE_EQ(kept[3].y, 0.2) << "0.2 of every sample, though nothing is paid any more";
  run.metrics["reward_weight/compiled"] = run.metrics["reward_weight/correct"];
  EXPECT_TRUE(saturated_stages(run).empty());
  EXPECT_TRUE(reward_at_first_weights(run).empty());
}

TEST(Failures, CountEachSampleOnce) {
  Sample refused = training_sample();  // one sample with a finding and an error
  refused.verdict.findings = {{"torch_compute", Severity::reject, 1, ""},
                              {"hooks", Severity::reject, 2, ""}};
  Sample accepted = training_sample();
  accepted.verdict = {.accepted = true};
  const Table table = failure_table(
      {{.name = "rl", .samples = {training_sample(), training_sample(), refused, accepted}}});
  using Row = std::vector<std::string>;
  EXPECT_EQ(table.rows, (std::vector<Row>{{"reason", "rl"},
                                          {"wrong_value", "2"},
                                          {"torch_compute", "1"},
                                          {"accepted", "1"},
                                          {"all samples", "4"}}));
}

TEST(Highlight, KeepsEveryCharacterAndColoursPython) {
  const std::string source =
      "@triton.jit\ndef k(x):\n    return f\"a\\\"b\" + 1e-5  # no 'string'\n";
  const std::string html = highlighted(source);
  for (const char* part : {"<span class=\"at\">@triton</span>", "<span class=\"fun\">k</span>",
                           "<span class=\"str\">f&quot;a\\&quot;b&quot;</span>",
                           "<span class=\"com\"># no 'string'</span>"})
    EXPECT_NE(html.find(part), std::string::npos) << part << "\n" << html;
  std::string plain;
  bool is_tag = false;
  for (const char c : html) {
    if (c == '<') is_tag = true;
    if (!is_tag) plain += c;
    if (c == '>') is_tag = false;
  }
  EXPECT_EQ(plain, escape(source));
  for (const char* odd : {"'", "\"\"\"never closed", "x = '\\", "@", "0x"})
    EXPECT_NE(highlighted(odd, 3).find(escape(odd).substr(0, 1)), std::string::npos) << odd;
}

TEST(Report, SaysWhatItTakesWhereThereIsNothing) {
  auto dir = TempDir::make("report-test");
  ASSERT_TRUE(dir);
  const auto runs = read_runs(dir->path());
  ASSERT_FALSE(runs);
  EXPECT_NE(runs.error().message.find("it holds no records of a run; a report takes folders with "
                                      "steps.jsonl, samples.jsonl, evaluation.json, search.jsonl"),
            std::string::npos)
      << runs.error().message;
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

Evaluation timed(const std::string& name, int accepted, double speedup) {
  Evaluation e = example(name, 0.5);
  e.by_task.clear();
  for (int i = 0; i < 20; ++i)
    e.by_task.push_back(
        {.id = fmt::format("level{}/t{}", i % 2 + 1, i),
         .level = fmt::format("level{}", i % 2 + 1),
         .samples = 4,
         .compiled = 4,
         .correct = accepted,
         .accepted = accepted,
         .speedups = std::vector<double>(static_cast<std::size_t>(accepted), speedup)});
  e.speed = {.timed = 20 * accepted,
             .geometric_mean = speedup,
             .fast = {{"1.2", 0.25}},
             .fast_at = {{"1.2", {{1, 0.25}, {4, 0.75}}}},
             .fast_against = {{"eager", {{"1.2", 0.375}}}},
             .geometric_mean_against = {{"eager", 1.75}}};
  e.levels = {{.level = "level1",
               .tasks = 10,
               .hack_rate = 0.125,
               .findings = {{"torch_compute", 5}},
               .samples = 40,
               .speed = e.speed},
              {.level = "level2", .tasks = 10, .samples = 40}};
  e.by_turn = {{.turn = 1, .tokens = 100, .best_at = {{1, 0.25}}},
               {.turn = 2,
                .tokens = 250,
                .last_at = {{4, 0.5}},
                .best_at = {{4, 0.75}},
                .last_fast_at = {{"1.2", {{4, 0.25}}}},
                .best_fast_at = {{"1.2", {{4, 0.375}}}}}};
  e.sound = LevelResult{.tasks = 17, .sampled = {.accepted = 0.375}};
  e.by_task[0].marks = {"task_zeros_pass"};
  e.by_task[1].hacks = 2;
  e.by_task[1].findings = {{"no_kernel", 1}, {"torch_compute", 2}};
  return e;
}

TEST(Evaluation, KeepsLevelsTurnsAndTasksInItsJson) {
  const Json json = to_json(timed("rl", 2, 1.3));
  const auto again = evaluation_from_json(json);
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(to_json(*again), json);
  EXPECT_EQ(again->by_task[3].speedups, (std::vector<double>{1.3, 1.3}));
}

TEST(Tables, SayWhatConversationsComeToAndCost) {
  const Table table = scaling_table({timed("rl", 2, 1.3)});
  ASSERT_EQ(table.rows.size(), 3U);
  EXPECT_EQ(table.rows[2], (std::vector<std::string>{"rl", "4", "2", "50.0 %", "75.0 %", "25.0 %",
                                                     "37.5 %", "1000", "0.00"}));
  EXPECT_NE(to_text(table.rows).find("best of history"), std::string::npos);
}

TEST(Tables, ReportWithAndWithoutDegenerateTasks) {
  const std::string text = render_markdown("r", {timed("rl", 2, 1.3)});
  EXPECT_NE(text.find("degenerate | 17 |"), std::string::npos) << text;
}

TEST(Tables, NameTheRulesThatAreBrokenByLevelAndByTask) {
  const std::string text = render_markdown("r", {timed("rl", 2, 1.3)});
  EXPECT_NE(text.find("## Refused samples by level and rule"), std::string::npos) << text;
  EXPECT_NE(text.find("| rl | level1 | 12.5 % | 12.5 % |"), std::string::npos) << text;
  EXPECT_NE(text.find("2 refused (torch_compute 2, no_kernel 1)"), std::string::npos) << text;
  EXPECT_NE(text.find("level1/t0 (task_zeros_pass)"), std::string::npos) << text;
}

TEST(Tables, GiveSpeedsAgainstEagerByLevelAndBesideThePublishedOnes) {
  const std::string text = render_markdown("r", {timed("rl", 2, 1.3)});
  EXPECT_NE(text.find("| rl | all | eager |"), std::string::npos) << text;
  EXPECT_NE(text.find("| rl | level1 | eager |"), std::string::npos) << text;
  EXPECT_NE(text.find("| 1.75 |"), std::string::npos) << text;
  EXPECT_NE(text.find("| rl | strict | eager | - / 37.5 / - / - |"), std::string::npos) << text;
}

// The evaluation of an untrained model without an accepted sample.
Evaluation untrained() {
  Evaluation e = timed("untrained", 0, 1);
  e.sampled = {};
  e.greedy = Rates();
  return e;
}

TEST(Tables, CompareWithTheFirstThatHadAnythingAccepted) {
  const std::string text = render_markdown(
      "t", {untrained(), timed("sft", 1, 1.1), timed("rl", 2, 1.3), timed("rl2", 3, 1.3)});
  EXPECT_NE(text.find("## rl against sft"), std::string::npos) << text;
  EXPECT_NE(text.find("## rl2 against sft"), std::string::npos);
  EXPECT_EQ(text.find("against untrained"), std::string::npos);
  EXPECT_NE(text.find("| accepted | 25.0 % | 50.0 % | +25.0 | +25.0 | +25.0 |"), std::string::npos);
}

TEST(Tables, CompareWithTheBaselineThatIsNamed) {
  const std::string text =
      render_markdown("t", {timed("sft", 1, 1.1), timed("rl", 2, 1.3), timed("rl2", 3, 1.3)}, "rl");
  EXPECT_NE(text.find("## rl2 against rl"), std::string::npos) << text;
  EXPECT_EQ(text.find("against sft"), std::string::npos);
}

TEST(Tables, HaveNoColumnsOfSpeedWhereNothingWasTimed) {
  Evaluation plain = timed("rl", 2, 1.3);
  plain.speed = {};
  plain.levels[0].speed = {};
  EXPECT_EQ(render_markdown("t", {plain}).find("fast_1.2 |"), std::string::npos);
  const std::string timed_text = render_markdown("t", {timed("rl", 2, 1.3)});
  EXPECT_NE(timed_text.find("| best fast_1.2 |"), std::string::npos);
  EXPECT_NE(timed_text.find("geometric mean |"), std::string::npos);
}

TEST(Tables, SetOurKernelBenchBesideThePublishedOnes) {
  Evaluation e = timed("rl", 2, 1.3);
  e.levels[0].speed = {};
  e.speed.fast_against = {};
  EXPECT_EQ(kernelbench_table({e}).rows.size(), 1U) << "no level was timed";
  e.levels[1].speed.fast = {{"1", 0.5}, {"1.2", 0.25}, {"1.5", 0}, {"2", 0}};
  const Table table = kernelbench_table({e});
  ASSERT_EQ(table.rows.size(), 2U);
  EXPECT_EQ(table.rows[1], (std::vector<std::string>{"rl", "strict", "replayed reference", "",
                                                     "50.0 / 25.0 / 0.0 / 0.0", ""}));
}

TEST(Compare, FindsAClearDifferenceAndItsInterval) {
  const auto differences = compare(timed("sft", 1, 1.1), timed("rl", 2, 1.3));
  ASSERT_FALSE(differences.empty());
  for (const Difference& d : differences) {
    EXPECT_EQ(d.tasks, 20);
    if (d.measure == "accepted") {
      EXPECT_DOUBLE_EQ(d.before, 0.25);
      EXPECT_DOUBLE_EQ(d.after, 0.5);
      EXPECT_NEAR(d.low, 0.25, 1e-9) << "every task differs by the same";
      EXPECT_TRUE(d.is_clear());
    }
    if (d.measure == "fast_1.2") {
      EXPECT_DOUBLE_EQ(d.after - d.before, 0.5);
    }
    if (d.measure == "compiled") {
      EXPECT_FALSE(d.is_clear());
    }
  }
}

TEST(Compare, HasTheIntervalOfTheMean) {
  // Half of 100 tasks gain 1, and half gain nothing. The mean is 0.5, its standard error 0.05.
  Evaluation before, after;
  for (int i = 0; i < 100; ++i) {
    before.by_task.push_back({.id = std::to_string(i), .samples = 1});
    after.by_task.push_back({.id = std::to_string(i), .samples = 1, .accepted = i % 2});
  }
  const auto differences = compare(before, after);
  const auto at = std::ranges::find(differences, "accepted", &Difference::measure);
  ASSERT_NE(at, differences.end());
  EXPECT_NEAR(at->low, 0.5 - 1.96 * 0.05, 0.015);
  EXPECT_NEAR(at->high, 0.5 + 1.96 * 0.05, 0.015);
}

TEST(Compare, RefusesDifferentPoliciesAndOtherTasks) {
  Evaluation open = timed("open", 2, 1);
  open.policy = "open";
  EXPECT_TRUE(compare(timed("sft", 1, 1), open).empty());
  EXPECT_TRUE(compare(timed("sft", 1, 1), example("other", 1)).empty());
}

TEST(Markdown, HasEveryTableAndLabelsWhatIsPublished) {
  const std::string text = render_markdown("A | B", {timed("sft", 1, 1.1), timed("rl", 2, 1.3)});
  for (const char* part : {"# A \\| B\n", "## Speed", "| fast_1.2 |", "| eager |", "## fast_p@k",
                           "## By level", "| 12.5 % |", "## Over turns", "| 250 |",
                           "## rl against sft", "## Published: Dr. Kernel", "torch_compute"})
    EXPECT_NE(text.find(part), std::string::npos) << part;
}

TEST(Markdown, KeepsPoliciesApart) {
  Evaluation open = example("open", 0.5);
  open.policy = "open";
  const std::string text = render_markdown("t", {example("strict", 0.5), open});
  EXPECT_NE(text.find("Rates (policy strict)"), std::string::npos);
  EXPECT_NE(text.find("Rates (policy open)"), std::string::npos);
}

TEST(Chart, ThinningKeepsMeansAndTheOrder) {
  std::vector<Point> rising;
  for (int i = 0; i < 1000; ++i) rising.push_back({1.0 * i, 1.0 * i});
  const auto few = thinned(rising, 100);
  ASSERT_EQ(few.size(), 100U);
  EXPECT_DOUBLE_EQ(few[0].y, 4.5);
  for (std::size_t i = 1; i < few.size(); ++i) EXPECT_LT(few[i - 1].x, few[i].x);
  EXPECT_EQ(thinned(few, 200).size(), 100U);
}

TEST(Chart, SmoothingKeepsAConstantAndTheLength) {
  const std::vector<Point> flat(50, {1, 3});
  const auto result = smoothed(flat, 7);
  ASSERT_EQ(result.size(), flat.size());
  for (const Point& point : result) EXPECT_DOUBLE_EQ(point.y, 3);
}

}  // namespace
}  // namespace tritonsmith::report
