#include "cli/eval_search.h"

#include "base/file.h"
#include "cli/call/output.h"
#include "cli/setup/search_options.h"
#include "report/markdown.h"
#include "report/tables.h"

namespace tritonsmith::cli {

Status evaluate_strategies(std::span<const Task> tasks, eval::SearchSuiteOptions options,
                           const SearchEval& choice, const eval::PromptedWriter& prompted,
                           gym::api::Judge& judge) {
  TRY_ASSIGN(const search::SearchConfig common, search_config(options.config, choice.settings));
  if (common.ptx > 0)
    return fail("--set ptx={}: only `write` edits PTX; strategies are compared without it",
                common.ptx);
  const std::filesystem::path folder = options.directory;
  std::vector<eval::SearchEvaluation> evaluations;
  for (const std::string& name : choice.strategies) {
    options.config = common;
    TRY_ASSIGN(options.config.strategy, enum_from_name<search::Strategy>(name));
    options.directory = folder / name;
    TRY_ASSIGN(auto evaluation, eval::evaluate_search(tasks, options, prompted, judge));
    evaluations.push_back(std::move(evaluation));
  }
  const report::Table table{
      .title = "Searches",
      .note = fmt::format(
          "accepted@k: the share of tasks for which a kernel was accepted within the first k {}. "
          "Attempts, tokens, kernels judged and seconds of judging are means over the tasks.",
          name_of(eval::budget_unit(common))),
      .rows = eval::search_rows(evaluations)};
  TRY(write_file_atomic(folder / "search.md", report::to_markdown(table)));
  show_text(report::to_text(table.rows));
  show("records: {}\n", folder.string());
  return ok();
}

}  // namespace tritonsmith::cli
