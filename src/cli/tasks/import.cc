#include "cli/tasks/import.h"

#include <algorithm>

#include "base/file.h"
#include "cli/call/help.h"
#include "cli/call/output.h"
#include "cli/dataset_options.h"
#include "cli/setup/hub_names.h"
#include "cli/setup/judges.h"
#include "cli/tasks/selection.h"
#include "curriculum/suite.h"
#include "datasets/export.h"
#include "datasets/json_rows.h"
#include "gym/judge/task_linter.h"

namespace tritonsmith::cli {
namespace {

namespace fs = std::filesystem;

// More tasks than these are looked at only on demand: a look takes about a second.
constexpr std::size_t kLookedAt = 1000;

struct ImportTasks {
  DatasetOptions from;
  std::string out;
  GymChoice gym;
  bool no_lint = false, lint = false;
};

// Checks whether zeros or similar non-solutions would solve a task. It writes one line for each
// task with findings to a file beside the tasks.
Status lint_tasks(const ImportTasks& options, const std::vector<Task>& tasks) {
  gym::capture::CaptureConfig config;
  config.slots = 1;
  TRY_ASSIGN(config.data, data_folders(options.gym.data));
  TRY_ASSIGN(const auto linter, gym::judge::TaskLinter::start(config, own_referee()));
  const std::string file = options.out + ".findings.jsonl";
  std::string lines;
  int marked = 0, not_looked_at = 0;
  for (const Task& task : tasks) {
    TRY_ASSIGN(const auto findings, linter->lint(task));
    if (findings.empty()) continue;
    Json list = Json::array();
    for (const Finding& finding : findings) list.push_back(to_json(finding));
    lines += to_line({{"task", task.id}, {"findings", list}}) + "\n";
    const auto say_first = [&](const auto& is_meant) {
      const auto at = std::ranges::find_if(findings, is_meant);
      if (at == findings.end()) return 0;
      show("{}: {}: {}\n", task.id, at->rule, at->message);
      return 1;
    };
    marked += say_first([](const Finding& each) { return each.severity != Severity::note; });
    not_looked_at += say_first([](const Finding& each) { return each.rule == "task_not_linted"; });
  }
  TRY(write_file_atomic(file, lines));
  show("{} of {} tasks have findings: {}\n", marked, tasks.size(), file);
  if (not_looked_at > 0)
    show("{} of {} tasks could not be looked at to the end; why is said above\n", not_looked_at,
         tasks.size());
  return ok();
}

// A folder that holds Python files and no rows, such as a checkout of KernelBench.
bool is_folder_of_tasks(const fs::path& path) {
  std::error_code error;
  if (!fs::is_directory(path, error)) return false;
  bool has_python = false;
  for (fs::recursive_directory_iterator at(path, error), end; !error && at != end;
       at.increment(error)) {
    if (at->path().filename().string().starts_with('.')) at.disable_recursion_pending();
    if (datasets::is_row_file(at->path()) && at->path().extension() == ".parquet") return false;
    has_python = has_python || at->path().extension() == ".py";
  }
  return has_python || fs::is_empty(path, error);
}

Status import_folder(const ImportTasks& options) {
  const auto on_bad =
      options.from.keep_going ? curriculum::OnBadTask::skip : curriculum::OnBadTask::stop;
  TRY_ASSIGN(std::vector<Task> tasks, curriculum::import_folder(options.from.path, on_bad));
  if (options.from.limit > 0 && tasks.size() > options.from.limit) tasks.resize(options.from.limit);
  if (!options.from.name.empty())
    for (Task& task : tasks) task.suite = options.from.name;
  TRY(curriculum::write_task_lines(options.out, tasks));
  show("{} tasks: {}\n", tasks.size(), options.out);
  return ok();
}

Status import_dataset(const ImportTasks& options) {
  TRY_ASSIGN(const auto out, datasets::write_json_rows(options.out));
  TRY_ASSIGN(const auto counts, datasets::import_tasks(import_options(options.from), *out));
  if (counts.written == 0) return fail("{}: no row is a task", options.from.path);
  TRY(out->finish());
  show_counts(counts, "tasks", options.out);
  return ok();
}

Status import_tasks(ImportTasks options) {
  TRY(find_dataset(options.from));
  TRY(is_folder_of_tasks(options.from.path) ? import_folder(options) : import_dataset(options));
  if (options.no_lint) return ok();
  TRY_ASSIGN(const auto tasks,
             curriculum::read_task_lines(options.out, curriculum::OnBadTask::stop));
  if (tasks.size() > kLookedAt && !options.lint) {
    show("the tasks were not looked at, because they are more than {}; --lint looks at all\n",
         kLookedAt);
    return ok();
  }
  return lint_tasks(options, tasks);
}

struct ExportTasks {
  TaskSelection selection;
  std::string out, layout, licence;
};

Status export_tasks(const ExportTasks& options) {
  TRY_ASSIGN(const std::vector<Task> tasks, selected_suite(options.selection));
  if (options.layout.empty()) {
    TRY(curriculum::export_folder(options.out, tasks));
  } else {
    TRY_ASSIGN(const auto layout, enum_from_name<datasets::TaskLayout>(options.layout));
    const datasets::DatasetTarget target{.out = options.out, .licence = options.licence};
    TRY(datasets::export_tasks(tasks, layout, target));
  }
  show("{} tasks: {}\n", tasks.size(), options.out);
  return ok();
}

}  // namespace

void add_import_command(CLI::App& tasks, Run& run) {
  auto options = std::make_shared<ImportTasks>();
  CLI::App* command = tasks.add_subcommand("import",
                                           "Check a folder of task files (KernelBench's layout), a "
                                           "JSONL or a data set, and write JSONL");
  command
      ->add_option("PATH,--dataset", options->from.path,
                   "A folder of .py files; a .parquet, .jsonl or .json, also packed (.gz, .zst); a "
                   "folder in the Hugging Face hub's layout; or OWNER/NAME on the hub")
      ->required();
  command->add_option("--out", options->out, "The JSONL to write")->required();
  command->add_option("--suite", options->from.name,
                      "The suite's name (default: that of the folder or the data set)");
  add_dataset_options(*command, options->from);
  add_data_option(*command, options->gym.data);
  CLI::Option* no_lint =
      command->add_flag("--no-lint", options->no_lint,
                        "Do not run the tasks to see whether zeros or constants solve them");
  command
      ->add_flag("--lint", options->lint,
                 fmt::format("Run them also if they are more than {}", kLookedAt))
      ->excludes(no_lint);
  add_example(*command, "tasks import ~/KernelBench --out kernelbench.jsonl");
  add_example(*command,
              "tasks import KernelBook/dataset_permissive.parquet --suite KernelBook "
              "--keep-going --out kernelbook.jsonl");
  add_example(*command, "tasks import GPUMODE/KernelBook --keep-going --out kernelbook.jsonl");
  command->callback(
      [&run, options] { run = [options] { return finish(import_tasks(*options)); }; });
}

void add_export_command(CLI::App& tasks, Run& run) {
  auto options = std::make_shared<ExportTasks>();
  CLI::App* command = tasks.add_subcommand(
      "export", "Write the tasks of a suite as .py files, or in the layout of a data set");
  command
      ->add_option("SUITE", options->selection.suite,
                   "The suite: curriculum, quickstart, zoo, a folder or a .jsonl")
      ->required();
  command
      ->add_option("--out", options->out,
                   "The folder to write into; with --layout also a .parquet, .jsonl or .json")
      ->required();
  command
      ->add_option("--layout", options->layout,
                   "Rows instead of files: kernelbench (code, level, name, problem_id), verl or "
                   "kernel-smith")
      ->check(CLI::IsMember({"kernelbench", "verl", "kernel-smith"}));
  command->add_option("--licence", options->licence,
                      "The licence that the README names, if a folder of rows is written");
  add_selection(*command, options->selection);
  add_example(*command, "tasks export data/tasks.jsonl --out folder");
  add_example(*command, "tasks export data/tasks.jsonl --layout verl --out rl/train.parquet");
  command->callback(
      [&run, options] { run = [options] { return finish(export_tasks(*options)); }; });
}

}  // namespace tritonsmith::cli
