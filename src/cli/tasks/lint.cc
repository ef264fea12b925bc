#include "cli/tasks/lint.h"

#include <algorithm>

#include "base/cache_directory.h"
#include "base/counted.h"
#include "base/file.h"
#include "base/hash.h"
#include "cli/call/help.h"
#include "cli/call/output.h"
#include "cli/commit.h"
#include "cli/setup/judges.h"
#include "cli/tasks/selection.h"
#include "data/adequacy.h"
#include "gym/judge/task_linter.h"
#include "gym/judge/task_lints.h"
#include "gym/judge/verdict_store.h"

namespace tritonsmith::cli {
namespace {

namespace fs = std::filesystem;
using gym::judge::TaskLinter;

struct LintTasks {
  TaskSelection selection;
  std::vector<std::string> data;
  gym::judge::MeasureOptions measure;
  bool json = false, anew = false, no_look = false;
};

// The file that keeps a task's adequacy. What decides it is in its name: the task and this program.
fs::path kept_file(const Task& task, int secrets) {
  const std::string folder = cache_directory("adequacy");
  if (folder.empty()) return {};
  const std::string tolerance = task.tolerance ? fmt::format("{:a}", *task.tolerance) : "-";
  return fs::path(folder) / (content_key(fmt::format("{} {} {} {} {}", gym::judge::kJudgingVersion,
                                                     kCommit, secrets, tolerance, task.source)) +
                             ".json");
}

Result<Adequacy> kept_adequacy(const fs::path& file) {
  TRY_ASSIGN(const std::string text, read_file(file));
  TRY_ASSIGN(const Json json, parse_json(text));
  return adequacy_from_json(json);
}

// A measure that lacked time is not kept.
Result<Adequacy> adequacy_of(TaskLinter& linter, const Task& task, const LintTasks& options) {
  const fs::path file = kept_file(task, options.measure.secrets);
  if (!file.empty() && !options.anew)
    if (auto kept = kept_adequacy(file)) return *std::move(kept);
  TRY_ASSIGN(Adequacy adequacy, linter.measure(task, options.measure));
  if (!file.empty() && adequacy.untried == 0 && adequacy.why_not.empty()) {
    TRY(make_directories(file.parent_path()));
    TRY(write_file_atomic(file, to_line(to_json(adequacy)) + "\n"));
  }
  return adequacy;
}

struct Totals {
  int tasks = 0, measured = 0, poor = 0, told = 0, tellable = 0, refused = 0;
  double shares = 0;

  void add(const Adequacy& adequacy) {
    ++tasks;
    refused += static_cast<int>(adequacy.refused.size());
    const auto share = share_told(adequacy);
    if (!share) return;
    ++measured;
    shares += *share;
    poor += *share < kPoorShare ? 1 : 0;
    told += told_faults(adequacy);
    tellable += tellable_faults(adequacy);
  }

  void show_text() const {
    if (measured == 0) return show("{}, none of them measured\n", counted(tasks, "task"));
    show(
        "{}: {} of {} faults told apart; mean over {} measured {:.1f} %; {} poorly tested (below "
        "{:.0f} %); {} legitimate variants refused\n",
        counted(tasks, "task"), told, tellable, measured, 100 * shares / measured, poor,
        100 * kPoorShare, refused);
  }
};

void show_task(const Task& task, const std::vector<Finding>& findings, const Adequacy& adequacy) {
  show("{}: {}\n", task.id, summary_of(adequacy));
  for (const Finding& finding : findings) show("  {}: {}\n", finding.rule, finding.message);
  for (const std::string& complaint : complaints_of(adequacy)) show("  {}\n", complaint);
}

Status lint_tasks(const LintTasks& options) {
  TRY_ASSIGN(const std::vector<Task> tasks, selected_suite(options.selection));
  if (tasks.empty()) return fail("these options select no task");
  gym::capture::CaptureConfig config;
  config.slots = 1;
  TRY_ASSIGN(config.data, data_folders(options.data));
  TRY_ASSIGN(const auto linter, TaskLinter::start(config, own_referee()));
  Totals totals;
  for (const Task& task : tasks) {
    std::vector<Finding> findings;
    if (!options.no_look) {
      TRY_ASSIGN(findings, linter->lint(task));
    }
    TRY_ASSIGN(const Adequacy adequacy, adequacy_of(*linter, task, options));
    if (auto poor = gym::judge::poor_adequacy(adequacy)) findings.push_back(*std::move(poor));
    totals.add(adequacy);
    if (!options.json) {
      show_task(task, findings, adequacy);
      continue;
    }
    Json list = Json::array();
    for (const Finding& finding : findings) list.push_back(to_json(finding));
    show("{}\n", to_line({{"task", task.id}, {"findings", list}, {"adequacy", to_json(adequacy)}}));
  }
  if (!options.json) totals.show_text();
  return ok();
}

}  // namespace

void add_lint_command(CLI::App& tasks, Run& run) {
  auto options = std::make_shared<LintTasks>();
  CLI::App* command = tasks.add_subcommand(
      "lint", "Look for tasks that cheap answers solve, and for faults that no trial refuses");
  command
      ->add_option("SUITE", options->selection.suite,
                   "The tasks: curriculum, quickstart, zoo, a folder, a .jsonl or one .py file")
      ->required();
  add_selection(*command, options->selection);
  command
      ->add_option("--seconds", options->measure.seconds,
                   "The time limit for the faults of one task, in seconds (default 60)")
      ->check(CLI::Range(1.0, 3600.0));
  command
      ->add_option("--secrets", options->measure.secrets,
                   "The trials must refuse a fault under this many secrets (default 3)")
      ->check(CLI::Range(1, 100));
  command->add_flag("--anew", options->anew,
                    "Measure again, even if an earlier call measured the same task");
  command->add_flag("--no-look", options->no_look,
                    "Only measure faults, and do not search for cheap answers");
  command->add_flag("--json", options->json, "Print one JSON object for each task");
  add_data_option(*command, options->data);
  add_example(*command, "tasks lint curriculum --limit 20");
  add_example(*command, "tasks lint softmax.py --json");
  command->callback([&run, options] { run = [options] { return finish(lint_tasks(*options)); }; });
}

}  // namespace tritonsmith::cli
