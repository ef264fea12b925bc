#include "report/searches.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <set>

#include "base/counted.h"
#include "data/failure.h"
#include "report/highlight.h"
#include "report/html.h"
#include "report/line_chart.h"
#include "report/verdict_facts.h"
#include "search/ptx_edits.h"
#include "search/words.h"
#include "text/feedback.h"

namespace tritonsmith::report {
namespace {

constexpr std::size_t kSearchesShown = 50;  // of a run
constexpr std::size_t kKernelsShown = 20;   // of a search, besides the best one
constexpr std::size_t kRowsShown = 100;     // more of them are folded
constexpr std::size_t kIdeaShown = 120;     // bytes of an idea in a row
constexpr std::size_t kCurvePoints = 400;

// The numbers of a search after each of its attempts. Attempts in flight have none.
struct SearchCurves {
  std::vector<Point> best, edited;  // the best speed-up, without and with edited PTX
  std::vector<Point> light;         // the largest share of the speed of light
  std::vector<Point> kernels, accepted;
};

SearchCurves curves_of(const search::History& history) {
  SearchCurves curves;
  double best = 0, edited = 0, light = 0, kernels = 0, accepted = 0;
  for (const search::Ask& ask : history.asks()) {
    const search::Attempt* attempt = history.attempt(ask.number);
    if (attempt == nullptr) continue;
    const Verdict& verdict = attempt->verdict;
    if (search::counts_as(*attempt) == search::CountsAs::kernel) {
      ++kernels;
      accepted += verdict.accepted ? 1 : 0;
    }
    if (verdict.accepted) {
      double& fastest = search::is_below_triton(ask.kind) ? edited : best;
      fastest = std::max(fastest, verdict.speedup.value_or(0));
      light = std::max(light, verdict.speed_of_light ? verdict.speed_of_light->share : 0);
    }
    const double x = ask.number + 1;
    curves.kernels.push_back({x, kernels});
    curves.accepted.push_back({x, accepted});
    if (best > 0) curves.best.push_back({x, best});
    if (edited > 0) curves.edited.push_back({x, edited});
    if (light > 0) curves.light.push_back({x, light});
  }
  return curves;
}

// A speed to compare with is a level line over all attempts.
Series level_of(const std::string& name, double value, std::vector<Point> points) {
  for (Point& point : points) point.y = value;
  return {.name = name, .points = thinned(points, kCurvePoints), .raw = {}};
}

std::string render_curves(const search::History& history) {
  const SearchCurves curves = curves_of(history);
  if (curves.kernels.size() < 2) return "";
  const auto line = [](const char* name, const std::vector<Point>& points) {
    return Series{.name = name, .points = thinned(points, kCurvePoints), .raw = {}};
  };
  std::string html;
  if (!curves.best.empty()) {
    const Verdict& verdict = history.attempt(*history.best())->verdict;
    Chart chart{.title = "Best speed-up", .x_label = "attempt"};
    chart.series.push_back(line("best kernel", curves.best));
    if (!curves.edited.empty()) chart.series.push_back(line("with edited PTX", curves.edited));
    chart.series.push_back(level_of("PyTorch", 1, curves.kernels));
    for (const auto& [name, timing] : verdict.baselines)
      if (const auto over = speedup_over(verdict, name))
        chart.series.push_back(level_of(name, *verdict.speedup / *over, curves.kernels));
    html += render_line_chart(chart);
  }
  if (!curves.light.empty())
    html += render_line_chart({.title = "Share of the speed of light",
                               .x_label = "attempt",
                               .series = {line("best so far", curves.light)},
                               .unit_interval = true});
  html += render_line_chart(
      {.title = "Different kernels",
       .x_label = "attempt",
       .series = {line("written", curves.kernels), line("accepted", curves.accepted)}});
  return fmt::format("<div class=\"charts\">\n{}</div>\n", html);
}

// Returns "7, changes 3 beside 5".
std::string label_of(const search::Ask& ask) {
  std::string label = std::to_string(ask.number + 1);
  if (const std::string origin = search::origin_of(ask); !origin.empty()) label += ", " + origin;
  if (ask.other != search::kNone) label += fmt::format(" beside {}", ask.other + 1);
  return label;
}

std::string result_of(const search::Attempt* attempt, bool is_best) {
  if (attempt == nullptr) return "not judged yet";
  if (attempt->ask.kind == search::AskKind::ideas) return "written";
  const Verdict& verdict = attempt->verdict;
  std::string text = verdict.accepted  ? is_best ? "accepted, the best" : "accepted"
                     : verdict.correct ? "correct, refused"
                                       : failure_of(verdict);
  if (attempt->same_as != search::kNone)
    text += fmt::format(", as attempt {}", attempt->same_as + 1);
  return text;
}

std::string rules_of(const Verdict& verdict) {
  std::set<std::string> rules;
  for (const Finding& finding : verdict.findings) rules.insert(finding.rule);
  return fmt::format("{}", fmt::join(rules, ", "));
}

std::vector<std::string> attempt_row(const search::Ask& ask, const search::History& history) {
  const search::Attempt* attempt = history.attempt(ask.number);
  const bool is_best = history.best() == ask.number;
  if (attempt == nullptr)
    return {label_of(ask),
            result_of(attempt, is_best),
            "",
            "",
            "",
            "",
            "",
            "",
            text::one_line(ask.idea, kIdeaShown)};
  const Verdict& verdict = attempt->verdict;
  const std::int64_t tokens = attempt->usage.prompt_tokens + attempt->usage.completion_tokens;
  const auto& light = verdict.speed_of_light;
  return {label_of(ask),
          result_of(attempt, is_best),
          verdict.speedup ? fmt::format("{:.2f}", *verdict.speedup) : "",
          light ? fmt::format("{:.0f} %", 100 * light->share) : "",
          rules_of(verdict),
          tokens > 0 ? std::to_string(tokens) : "",
          attempt->money > 0 ? fmt::format("{:.4f}", attempt->money) : "",
          fmt::format("{:.1f}", attempt->seconds),
          text::one_line(ask.idea, kIdeaShown)};
}

std::vector<std::vector<std::string>> without_empty_columns(
    std::vector<std::vector<std::string>> rows) {
  for (std::size_t column = rows[0].size(); column-- > 0;) {
    if (std::any_of(rows.begin() + 1, rows.end(),
                    [&](const auto& row) { return !row[column].empty(); }))
      continue;
    for (auto& row : rows) row.erase(row.begin() + static_cast<std::ptrdiff_t>(column));
  }
  return rows;
}

std::string render_attempts(const search::History& history) {
  std::vector<std::vector<std::string>> rows = {{"attempt", "result", "speed-up", "speed of light",
                                                 "findings", "tokens", "cost", "after s", "idea"}};
  for (const search::Ask& ask : history.asks()) rows.push_back(attempt_row(ask, history));
  const std::string title = counted(std::ssize(history.asks()), "attempt");
  const std::string table = render_table(without_empty_columns(std::move(rows)));
  return history.asks().size() > kRowsShown ? folded(title, table)
                                            : fmt::format("<h3>{}</h3>\n{}", title, table);
}

std::string code_block(const std::string& source, int marked_line = 0) {
  return fmt::format("<pre><code>{}</code></pre>\n", highlighted(source, marked_line));
}

std::string render_best(const search::RecordedSearch& recorded) {
  const search::History& history = recorded.history;
  if (!history.best()) return "";
  const search::Attempt& best = *history.attempt(*history.best());
  std::string html =
      fmt::format("<h3>The best kernel: attempt {}{}</h3>\n{}", escape(label_of(best.ask)),
                  badges(best.verdict), verdict_facts(best.verdict));
  if (recorded.source.empty())
    html += code_block(best.kernel);
  else
    html += fmt::format(
        "<div class=\"beside\"><div><h4>The task</h4>{}</div><div><h4>The kernel</h4>{}</div></div>"
        "\n",
        code_block(recorded.source), code_block(best.kernel));
  if (const auto gain = search::gain_of_edits(history))
    for (const auto& [name, text] : history.attempt(*search::fastest_ptx(history))->ptx)
      html +=
          folded(fmt::format("Edited PTX of {}: {:.2f} times as fast as Triton's own", name, *gain),
                 fmt::format("<pre class=\"text\">{}</pre>", escape(text)));
  return html;
}

// Shows the other kernels, the best ones first.
std::string render_other_kernels(const search::History& history) {
  std::string cards;
  std::size_t shown = 0, left_out = 0;
  for (const int number : history.ranked(std::numeric_limits<int>::max())) {
    const search::Attempt& attempt = *history.attempt(number);
    if (history.best() == number || search::is_below_triton(attempt.ask.kind)) continue;
    if (shown == kKernelsShown) {
      ++left_out;
      continue;
    }
    ++shown;
    const Verdict& verdict = attempt.verdict;
    cards += fmt::format(
        "<details><summary>attempt {}{}{}</summary><div>{}{}</div></details>\n",
        escape(label_of(attempt.ask)), badges(verdict),
        verdict.speedup
            ? fmt::format(" <span class=\"quiet\">speed-up {:.2f}</span>", *verdict.speedup)
            : "",
        verdict_facts(verdict),
        code_block(attempt.kernel, verdict.error ? verdict.error->line : 0));
  }
  if (left_out > 0)
    cards += fmt::format("<p class=\"quiet\">{} not shown.</p>\n",
                         counted_are(static_cast<std::int64_t>(left_out), "further kernel"));
  return cards.empty() ? "" : folded("Other kernels, the best ones first", cards);
}

// Returns "3 of 7 different kernels verified; 21,000 tokens, cost 0.12; the search ended: ...".
std::string words_of(const search::RecordedSearch& recorded) {
  const search::Spent& spent = recorded.history.spent();
  std::string text = search::summary_of(recorded.history) + ". " + counted(spent.tokens, "token");
  if (spent.money > 0) text += fmt::format(", cost {:.4f}", spent.money);
  return text + (recorded.why_over.empty() ? ". The search has not ended."
                                           : ". The search ended: " + recorded.why_over + ".");
}

std::string render_search(const search::RecordedSearch& recorded) {
  return fmt::format("<p>{}</p>\n{}{}{}", escape(words_of(recorded)),
                     render_curves(recorded.history), render_best(recorded),
                     render_attempts(recorded.history));
}

// Returns "ew3-00042: 12 attempts, accepted, speed-up 1.31" for the line that opens a search.
std::string headline_of(const search::RecordedSearch& recorded) {
  const search::History& history = recorded.history;
  std::string text =
      fmt::format("{}: {}, {}", recorded.task, counted(std::ssize(history.asks()), "attempt"),
                  history.best() ? "accepted" : "none accepted");
  if (history.best())
    if (const auto& speedup = history.attempt(*history.best())->verdict.speedup)
      text += fmt::format(", speed-up {:.2f}", *speedup);
  return text;
}

// Returns the share of the tasks that have an accepted kernel after each number of attempts.
Series accepted_by_attempts(const RunRecords& run) {
  std::size_t most = 0;
  for (const search::RecordedSearch& each : run.searches)
    most = std::max(most, each.history.asks().size());
  std::vector<double> found(most, 0);
  for (const search::RecordedSearch& each : run.searches)
    for (const search::Ask& ask : each.history.asks()) {
      const search::Attempt* attempt = each.history.attempt(ask.number);
      if (attempt == nullptr || !attempt->verdict.accepted) continue;
      ++found[static_cast<std::size_t>(ask.number)];
      break;
    }
  Series series{.name = run.name, .points = {}, .raw = {}};
  double sum = 0;
  for (std::size_t i = 0; i < most; ++i) {
    sum += found[i];
    series.points.push_back(
        {static_cast<double>(i + 1), sum / static_cast<double>(run.searches.size())});
  }
  series.points = thinned(series.points, kCurvePoints);
  return series;
}

}  // namespace

std::string render_search_comparison(const std::vector<RunRecords>& runs) {
  Chart chart{
      .title = "Tasks with an accepted kernel", .x_label = "attempts", .unit_interval = true};
  for (const RunRecords& run : runs)
    if (run.searches.size() > 1) chart.series.push_back(accepted_by_attempts(run));
  if (chart.series.empty()) return "";
  return fmt::format("<div class=\"charts\">\n{}</div>\n", render_line_chart(chart));
}

std::string render_searches(const RunRecords& run) {
  if (run.searches.size() == 1)
    return render_search(run.searches.front()) + render_other_kernels(run.searches.front().history);
  std::string html;
  for (std::size_t i = 0; i < std::min(run.searches.size(), kSearchesShown); ++i)
    html += folded(headline_of(run.searches[i]), render_search(run.searches[i]));
  if (run.searches.size() > kSearchesShown)
    html += fmt::format("<p class=\"quiet\">The first {} of {} tasks are shown.</p>\n",
                        kSearchesShown, run.searches.size());
  return html;
}

}  // namespace tritonsmith::report
