#include "report/failures.h"

#include <algorithm>
#include <cmath>

#include "data/failure.h"

namespace tritonsmith::report {
namespace {

struct Column {
  std::string name;
  std::map<std::string, int> failures;
  int accepted = 0, all = 0;
};

Column column_of(const Evaluation& evaluation) {
  Column column{.name = evaluation.name, .all = all_samples(evaluation)};
  column.accepted = static_cast<int>(std::lround(evaluation.sampled.accepted * column.all));
  // Older records have no `failures`. They count a sample once by its error and again by each
  // finding.
  column.failures = evaluation.failures.empty() ? evaluation.errors : evaluation.failures;
  return column;
}

// The column counts the samples that were read.
Column column_of(const RunRecords& run) {
  Column column{.name = run.name, .all = static_cast<int>(run.samples.size())};
  if (run.samples_before > 0) column.name += fmt::format(", newest {}", run.samples.size());
  for (const Sample& sample : run.samples) {
    column.accepted += sample.verdict.accepted ? 1 : 0;
    if (!sample.verdict.accepted) ++column.failures[failure_of(sample.verdict)];
  }
  return column;
}

std::vector<Column> columns_of(const std::vector<RunRecords>& runs) {
  std::vector<Column> columns;
  for (const RunRecords& run : runs) {
    for (const Evaluation& evaluation : run.evaluations) columns.push_back(column_of(evaluation));
    // An evaluation's own samples are counted already.
    if (run.evaluations.empty() && !run.samples.empty()) columns.push_back(column_of(run));
  }
  return columns;
}

}  // namespace

Table failure_table(const std::vector<RunRecords>& runs) {
  Table table{.title = "What went wrong",
              .note =
                  "Each sample counts once: by the rule of the first finding that refuses it, else "
                  "by its error.",
              .rows = {{"reason"}}};
  const std::vector<Column> columns = columns_of(runs);
  std::map<std::string, int> totals;
  for (const Column& column : columns) {
    table.rows[0].push_back(column.name);
    for (const auto& [reason, count] : column.failures) totals[reason] += count;
  }
  if (columns.empty()) return table;
  std::vector<std::string> reasons;
  for (const auto& [reason, count] : totals) reasons.push_back(reason);
  std::ranges::stable_sort(reasons, std::ranges::greater(),
                           [&](const std::string& reason) { return totals[reason]; });
  const auto add_row = [&](const std::string& name, const auto& count_in) {
    auto& row = table.rows.emplace_back(std::vector<std::string>{name});
    for (const Column& column : columns) {
      const int count = count_in(column);
      row.push_back(count == 0 ? "" : std::to_string(count));
    }
  };
  for (const std::string& reason : reasons)
    add_row(reason, [&](const Column& column) {
      const auto at = column.failures.find(reason);
      return at == column.failures.end() ? 0 : at->second;
    });
  add_row("accepted", [](const Column& column) { return column.accepted; });
  add_row("all samples", [](const Column& column) { return column.all; });
  return table;
}

}  // namespace tritonsmith::report
