#include "report/report.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>

#include "report/chart.h"
#include "report/html.h"
#include "report/published.h"

namespace tritonsmith::report {
namespace {

std::vector<Evaluation> all_evaluations(const std::vector<RunRecords>& runs) {
  std::vector<Evaluation> all;
  for (const RunRecords& run : runs)
    all.insert(all.end(), run.evaluations.begin(), run.evaluations.end());
  return all;
}

std::string render(const Table& table) {
  const std::string note =
      table.note.empty() ? "" : fmt::format("<p class=\"quiet\">{}</p>\n", escape(table.note));
  return fmt::format("<h2>{}</h2>\n{}", escape(table.title), note) + render_table(table.rows);
}

// "untrained 0.0 %, sft 45.9 %, rl 71.2 %" and bars as long.
std::string render_headline(const std::vector<Evaluation>& evaluations) {
  std::string html = "<div class=\"bars\">\n";
  for (const Evaluation& e : evaluations)
    html += fmt::format(
        "<span>{0}</span><b><i style=\"width:{1:.1f}%\"></i></b><span>{1:.1f} % accepted</span>\n",
        escape(e.name), 100 * e.sampled.accepted);
  return html + "</div>\n";
}

std::string render_evaluations(const std::vector<Evaluation>& evaluations,
                               std::string_view baseline) {
  if (evaluations.empty()) return "";
  std::string html = render_headline(evaluations);
  for (const Table& table : evaluation_tables(evaluations, baseline)) html += render(table);
  return html;
}

std::string folded(std::string_view summary, const std::string& html) {
  return fmt::format("<details><summary>{}</summary><div>\n{}</div></details>\n", summary, html);
}

// Beside our own where those are KernelBench's too; else there is nothing to compare, and they are
// folded away.
std::string render_published(const std::vector<Evaluation>& evaluations) {
  if (evaluations.empty()) return "";
  std::string html;
  for (const Table& table : published_tables()) html += render(table);
  const Table ours = kernelbench_table(evaluations);
  if (ours.rows.size() > 1) return render(ours) + html;
  return "<h2>Other systems</h2>\n" + folded("Published results on KernelBench", html);
}

// Folded: a page has hundreds of them.
std::string render_tasks(const std::vector<Evaluation>& evaluations) {
  if (evaluations.empty()) return "";
  return folded("All tasks", render_table(task_table(evaluations).rows));
}

// Metrics that belong into one picture, by the names that training records.
struct Picture {
  std::string title;
  std::vector<std::pair<std::string, std::string>> metrics;  // recorded name, name in the legend
  bool unit_interval = false;
};

const std::vector<Picture>& pictures() {
  static const std::vector<Picture> all = {
      {"Reward", {{"reward/mean", "mean reward"}}},
      {"Judged samples",
       {{"stage/compiled", "compiled"},
        {"stage/correct", "correct"},
        {"stage/accepted", "accepted"}},
       true},
      {"Loss (SFT)", {{"loss", "loss"}}},
      {"Entropy", {{"entropy", "entropy"}}},
      {"Log-probabilities, sampler against trainer",
       {{"logprob_difference/mean", "mean |difference|"},
        {"logprob_difference/p50", "median"},
        {"logprob_difference/p95", "95 % are below"},
        {"logprob_difference/p99", "99 % are below"},
        {"logprob_difference/max", "largest |difference|"}}},
      {"Gradient norm", {{"grad_norm", "gradient norm"}}},
  };
  return all;
}

// On the CPU sampler and trainer agree to the bit: nothing to see.
bool is_zero(const Chart& chart) {
  return std::ranges::all_of(chart.series, [](const Series& series) {
    return std::ranges::all_of(series.points, [](const Point& point) { return point.y == 0; });
  });
}

std::string render_curves(const RunRecords& run) {
  std::string charts;
  for (const Picture& picture : pictures()) {
    Chart chart{.title = picture.title, .x_label = "step", .unit_interval = picture.unit_interval};
    for (const auto& [metric, legend] : picture.metrics) {
      const auto at = run.metrics.find(metric);
      if (at == run.metrics.end() || at->second.size() < 2) continue;
      chart.series.push_back({legend, smoothed(at->second, at->second.size() / 40)});
    }
    if (!chart.series.empty() && !is_zero(chart)) charts += render_chart(chart);
  }
  if (charts.empty()) return "";
  return fmt::format("<h2>Training: {}</h2>\n<div class=\"charts\">\n{}</div>\n", escape(run.name),
                     charts);
}

std::string render_failures(const std::vector<Evaluation>& evaluations) {
  std::set<std::string> names;
  for (const Evaluation& e : evaluations) {
    for (const auto& [name, count] : e.errors) names.insert(name);
    for (const auto& [name, count] : e.findings) names.insert("finding: " + name);
  }
  if (names.empty()) return "";
  std::vector<std::vector<std::string>> rows(1, {"why a sample was not accepted"});
  for (const Evaluation& e : evaluations) rows[0].push_back(e.name);
  for (const std::string& name : names) {
    std::vector<std::string> row = {name};
    for (const Evaluation& e : evaluations) {
      const bool finding = name.starts_with("finding: ");
      const auto& counts = finding ? e.findings : e.errors;
      const auto at = counts.find(finding ? name.substr(9) : name);
      row.push_back(at == counts.end() ? "" : std::to_string(at->second));
    }
    rows.push_back(std::move(row));
  }
  return "<h2>What went wrong</h2>\n" + render_table(rows);
}

std::string verdict_line(const Verdict& verdict) {
  if (verdict.accepted) return "accepted";
  std::string line = fmt::format("reached stage {}", name_of(verdict.stage));
  if (verdict.error)
    line += fmt::format("; {}: {}", verdict.error->error_class, verdict.error->message);
  for (const Finding& finding : verdict.findings)
    if (finding.severity == Severity::reject)
      line += fmt::format("; {} (line {})", finding.rule, finding.line);
  return line;
}

std::string render_sample(const Sample& sample) {
  const Verdict& verdict = sample.verdict;
  std::string facts;
  if (verdict.numerics)
    facts += fmt::format("largest error {:.3g} over {} trials. ", verdict.numerics->max_abs,
                         verdict.numerics->trials);
  for (const KernelReport& kernel : verdict.kernels)
    facts += fmt::format("{}: {} launches, {} registers, {} spills, {} bytes of shared memory. ",
                         kernel.name, kernel.launches, kernel.registers, kernel.spills,
                         kernel.shared_bytes);
  return fmt::format(
      "<details><summary>{} <span class=\"{}\">{}</span></summary><div><p class=\"quiet\">{}</p>"
      "<pre>{}</pre></div></details>\n",
      escape(sample.task_id), verdict.accepted ? "good" : "bad", escape(verdict_line(verdict)),
      escape(facts), escape(sample.completion.text));
}

// What verdicts say of tasks themselves: rewards that were earned there mean little.
std::string render_marked_tasks(const RunRecords& run) {
  std::set<std::string> tasks;
  std::map<std::string, std::set<std::string>> marks;
  for (const Sample& sample : run.samples) {
    tasks.insert(sample.task_id);
    for (const Finding& finding : sample.verdict.findings)
      if (finding.severity == Severity::warn && finding.rule.starts_with("task_"))
        marks[sample.task_id].insert(finding.rule);
  }
  if (marks.empty()) return "";
  constexpr int most = 20;
  int left = most;
  std::string list;
  for (const auto& [task, rules] : marks)
    if (left-- > 0)
      list += fmt::format("{}{} ({})", list.empty() ? "" : ", ", task, fmt::join(rules, ", "));
  return fmt::format("<p>Of their {} tasks the linter marks {}: {}{}.</p>\n", tasks.size(),
                     marks.size(), escape(list), left < 0 ? ", and others" : "");
}

// The newest samples: some accepted, then some of each way to fail.
std::string render_samples(const RunRecords& run) {
  if (run.samples.empty()) return "";
  std::string html = fmt::format("<h2>Samples: {}</h2>\n", escape(run.name));
  html += render_marked_tasks(run);
  int accepted = 0;
  std::set<std::string> failures;
  for (auto at = run.samples.rbegin(); at != run.samples.rend(); ++at) {
    const Verdict& verdict = at->verdict;
    if (verdict.accepted
            ? accepted++ < 4
            : failures.size() < 4 &&
                  failures.insert(verdict.error ? verdict.error->error_class : "").second)
      html += render_sample(*at);
  }
  return html;
}

}  // namespace

std::string render_report(const std::string& title, const std::vector<RunRecords>& runs,
                          std::string_view baseline) {
  const std::vector<Evaluation> evaluations = all_evaluations(runs);
  std::string body = fmt::format("<h1>{}</h1>\n", escape(title));
  body += render_evaluations(evaluations, baseline);
  body += render_published(evaluations);
  for (const RunRecords& run : runs) body += render_curves(run);
  body += render_failures(evaluations);
  for (const RunRecords& run : runs) body += render_samples(run);
  body += render_tasks(evaluations);
  return render_page(title, body);
}

std::string evaluation_table(const std::vector<Evaluation>& evaluations) {
  return to_text(evaluation_rows(evaluations));
}

}  // namespace tritonsmith::report
