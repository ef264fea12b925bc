// `tritonsmith report RUN_DIR...`: makes one HTML page from the records of runs, and prints the
// table of evaluations.
#include "report/report.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/file.h"
#include "cli/call/command.h"
#include "cli/call/help.h"
#include "cli/call/output.h"
#include "report/markdown.h"

namespace tritonsmith::cli {
namespace {

struct ReportOptions {
  std::vector<std::string> directories;
  std::string html = "report.html", markdown, baseline;
};

// Refuses an unknown name, because the report would silently compare with another evaluation.
Status check_baseline(const std::vector<Evaluation>& evaluations, const std::string& baseline) {
  if (baseline.empty()) return ok();
  std::vector<std::string> names;
  for (const Evaluation& e : evaluations) names.push_back(e.name);
  if (std::ranges::find(names, baseline) != names.end()) return ok();
  return fail("--baseline {}: there is no such evaluation; there are: {}", baseline,
              fmt::join(names, ", "));
}

Status write_report(const ReportOptions& options) {
  for (const std::string& file : {options.html, options.markdown})
    if (!file.empty()) TRY(prepare_output_file(file));
  std::vector<report::RunRecords> runs;
  std::vector<Evaluation> evaluations;
  for (const std::string& directory : options.directories) {
    TRY_ASSIGN(auto found, report::read_runs(directory));
    for (report::RunRecords& run : found) {
      evaluations.insert(evaluations.end(), run.evaluations.begin(), run.evaluations.end());
      runs.push_back(std::move(run));
    }
  }
  TRY(check_baseline(evaluations, options.baseline));
  TRY(write_file_atomic(options.html,
                        report::render_report("Tritonsmith report", runs, options.baseline)));
  if (!options.markdown.empty())
    TRY(write_file_atomic(
        options.markdown,
        report::render_markdown("Tritonsmith report", evaluations, options.baseline)));
  if (!evaluations.empty()) show_text(report::evaluation_table(evaluations));
  show("report: {}\n", options.html);
  return ok();
}

void add_report_command(CLI::App& app, Run& run) {
  auto options = std::make_shared<ReportOptions>();
  CLI::App* command = app.add_subcommand("report", "Draw a report from the records of runs");
  command
      ->add_option("RUN_DIR", options->directories,
                   "Directories of runs, evaluations and searches: they or those below hold "
                   "steps.jsonl, samples.jsonl, evaluation.json or search.jsonl")
      ->required();
  command->add_option("--html", options->html, "The page to write");
  command->add_option("--markdown", options->markdown,
                      "Also write the tables as Markdown to this file");
  command->add_option("--baseline", options->baseline,
                      "The evaluation that later ones are compared with, by name (default: the "
                      "first that had anything accepted)");
  add_example(*command, "report runs/sft-small runs/rl-small runs/eval --html report.html");
  command->callback(
      [&run, options] { run = [options] { return finish(write_report(*options)); }; });
}

const Command report_command(CommandGroup::model, "report", add_report_command);

}  // namespace
}  // namespace tritonsmith::cli
