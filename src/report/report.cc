#include "report/report.h"

#include <utility>

#include "report/charts.h"
#include "report/failures.h"
#include "report/html.h"
#include "report/published.h"
#include "report/samples.h"
#include "report/searches.h"

namespace tritonsmith::report {
namespace {

std::vector<Evaluation> all_evaluations(const std::vector<RunRecords>& runs) {
  std::vector<Evaluation> all;
  for (const RunRecords& run : runs)
    all.insert(all.end(), run.evaluations.begin(), run.evaluations.end());
  return all;
}

std::string without_title(const Table& table) {
  const std::string note =
      table.note.empty() ? "" : fmt::format("<p class=\"quiet\">{}</p>\n", escape(table.note));
  return note + render_table(table.rows);
}

// Draws a bar for each evaluation. The dark part is
// accepted, the light part is correct but refused.
std::string render_headline(const std::vector<Evaluation>& evaluations) {
  if (evaluations.empty()) return "";
  std::string html = "<div class=\"bars\">\n";
  for (const Evaluation& e : evaluations)
    html += fmt::format(
        "<span>{0}</span><b><i class=\"correct\" style=\"width:{2:.1f}%\"></i>"
        "<i style=\"width:{1:.1f}%\"></i></b><span>{1:.1f} % accepted, {2:.1f} % correct</span>\n",
        escape(e.name), 100 * e.sampled.accepted, 100 * e.sampled.correct);
  return html + "</div>\n";
}

// Adds published results. They stand beside our own if those are of KernelBench too. Otherwise
// there is nothing to compare, and they are folded.
void add_published(const std::vector<Evaluation>& evaluations, std::vector<Section>& sections) {
  if (evaluations.empty()) return;
  const Table ours = kernelbench_table(evaluations);
  if (ours.rows.size() > 1) {
    sections.push_back({ours.title, without_title(ours)});
    for (const Table& table : published_tables())
      sections.push_back({table.title, without_title(table)});
    return;
  }
  std::string html;
  for (const Table& table : published_tables())
    html += fmt::format("<h3>{}</h3>\n{}", escape(table.title), without_title(table));
  sections.push_back({"Other systems", folded("Published results on KernelBench", html)});
}

// Returns "begun 2026-11-23T18:05:00Z by tritonsmith 0.1.0, commit 53394f3; called again ... after
// step 40".
std::string history_of(const RunRecords& run) {
  std::string text;
  for (const Call& call : run.calls)
    text += fmt::format("{} {} by {}{}", text.empty() ? "begun" : "; called again", call.at,
                        call.program.empty() ? "an unnamed program" : call.program,
                        call.step > 0 ? fmt::format(", after step {}", call.step) : "");
  for (const Evaluation& e : run.evaluations)
    if (!e.date.empty() || !e.program.empty())
      text += fmt::format("{}evaluated {} by {}", text.empty() ? "" : "; ", e.date, e.program);
  return text;
}

// Shows for each run its program, its dates and its settings.
std::string render_runs(const std::vector<RunRecords>& runs) {
  std::string html;
  for (const RunRecords& run : runs) {
    const std::string history = history_of(run);
    if (history.empty() && run.settings.empty()) continue;
    html += fmt::format("<h3>{}</h3>\n", escape(run.name));
    if (!history.empty()) html += fmt::format("<p>{}</p>\n", escape(history));
    if (run.settings.empty()) continue;
    std::vector<std::vector<std::string>> rows = {{"setting", "value"}};
    for (const auto& [name, value] : run.settings) rows.push_back({name, to_line(value)});
    html += folded("Config", render_table(rows));
  }
  return html;
}

}  // namespace

std::string render_report(const std::string& title, const std::vector<RunRecords>& runs,
                          std::string_view baseline) {
  const std::vector<Evaluation> evaluations = all_evaluations(runs);
  std::vector<Section> sections;
  const auto add = [&](std::string name, std::string html) {
    if (!html.empty()) sections.push_back({std::move(name), std::move(html)});
  };
  for (const Table& table : evaluation_tables(evaluations, baseline))
    add(table.title, without_title(table));
  add_published(evaluations, sections);
  add("Searches by their attempts", render_search_comparison(runs));
  for (const RunRecords& run : runs) add("Search: " + run.name, render_searches(run));
  for (const RunRecords& run : runs) add("Training: " + run.name, render_charts(run));
  if (const Table failures = failure_table(runs); failures.rows.size() > 1)
    add(failures.title, without_title(failures));
  for (const RunRecords& run : runs) add("Samples: " + run.name, render_samples(run));
  if (!evaluations.empty())
    add("All tasks", folded("All tasks", render_table(task_table(evaluations).rows)));
  add("Runs and their configs", render_runs(runs));
  return render_page(title, render_headline(evaluations), sections);
}

std::string evaluation_table(const std::vector<Evaluation>& evaluations) {
  return to_text(evaluation_rows(evaluations));
}

}  // namespace tritonsmith::report
