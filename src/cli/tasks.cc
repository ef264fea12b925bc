// `tritonsmith tasks make|list|show|import|export|teach|from-run`: handles tasks from the
// curriculum or from other files, and makes examples for supervised fine-tuning. A SUITE is
// "curriculum" or "quickstart" (both with options: "curriculum:seed=2,train=100"), a folder of task
// files, a .jsonl file or one .py file.
#include "curriculum/tasks.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/file.h"
#include "cli/call/command.h"
#include "cli/call/help.h"
#include "cli/call/output.h"
#include "cli/judge_text.h"
#include "cli/setup/judges.h"
#include "cli/setup/teaching.h"
#include "cli/tasks_from_run.h"
#include "curriculum/suite.h"
#include "curriculum/teacher/teacher.h"
#include "gym/judge/task_linter.h"
#include "text/prompt.h"
#include "train/sft/sft_examples.h"

namespace tritonsmith::cli {
namespace {

using curriculum::CurriculumOptions;
using curriculum::TeacherOptions;

// Each library has one section, so `--set teacher.per_task=2` has the form of a config file.
struct TeachConfig {
  CurriculumOptions curriculum;
  TeacherOptions teacher;
  text::PromptConfig prompt;
  static Fields<TeachConfig> fields() {
    Fields<TeachConfig> fields;
    append_section(fields, "curriculum", &TeachConfig::curriculum);
    append_section(fields, "teacher", &TeachConfig::teacher);
    append_section(fields, "prompt", &TeachConfig::prompt);
    return fields;
  }
};

struct TasksOptions {
  std::string suite, id, out, name, references;
  std::string split, family;
  std::size_t limit = 0;
  bool keep_going = false, quickstart = false, no_lint = false;
  std::vector<std::string> settings;
  std::map<std::string, std::string> curriculum;  // by option name
  GymChoice gym;
  Policy policy = Policy::strict;
  Backend backend = Backend::automatic;
};

Status keep_family(std::vector<Task>& tasks, const std::string& family) {
  std::set<std::string> known;
  for (const Task& task : tasks)
    if (!task.family.empty()) known.insert(task.family);
  if (known.empty()) return fail("--family {}: no task of this suite names a family", family);
  if (!known.contains(family))
    return fail("--family {}: the families of this suite are {}", family, fmt::join(known, ", "));
  std::erase_if(tasks, [&](const Task& task) { return task.family != family; });
  return ok();
}

// Keeps the tasks that --split and --family select.
Status select_tasks(std::vector<Task>& tasks, const TasksOptions& options) {
  if (!options.split.empty()) {
    TRY_ASSIGN(const TaskSplit split, enum_from_name<TaskSplit>(options.split));
    std::erase_if(tasks, [&](const Task& task) { return task.split != split; });
  }
  if (!options.family.empty()) TRY(keep_family(tasks, options.family));
  if (options.limit > 0 && tasks.size() > options.limit) tasks.resize(options.limit);
  return ok();
}

Result<std::vector<Task>> selected_suite(const TasksOptions& options) {
  TRY_ASSIGN(std::vector<Task> tasks, curriculum::load_suite(options.suite));
  TRY(select_tasks(tasks, options));
  return tasks;
}

Status make_tasks(const TasksOptions& options) {
  CurriculumOptions config =
      options.quickstart ? curriculum::quickstart_options(1) : CurriculumOptions{};
  std::vector<std::string> overrides;
  for (const auto& [name, value] : options.curriculum)
    if (!value.empty()) overrides.push_back(name + "=" + value);
  TRY_ASSIGN(Settings settings, curriculum::curriculum_settings(overrides));
  TRY(apply_settings(config, settings, "tasks make"));
  std::vector<Task> tasks = curriculum::make_curriculum(config);
  TRY(select_tasks(tasks, options));
  if (tasks.empty()) return fail("these options give no tasks");
  TRY(curriculum::write_task_lines(options.out, tasks));
  show("{} tasks: {}\n", tasks.size(), options.out);
  return ok();
}

Status list_tasks(const TasksOptions& options) {
  TRY_ASSIGN(const std::vector<Task> tasks, selected_suite(options));
  std::size_t width = 2;
  for (const Task& task : tasks) width = std::max(width, task.id.size());
  show("{:<{}}  {:<11}  {:<5}  {:<7}  {}\n", "id", width, "family", "scale", "split",
       "composition");
  for (const Task& task : tasks)
    show("{:<{}}  {:<11}  {:<5}  {:<7}  {}\n", task.id, width,
         task.family.empty() ? "-" : task.family, name_of(task.scale), name_of(task.split),
         task.composition.empty() ? "-" : task.composition);
  show("{} tasks\n", tasks.size());
  return ok();
}

Status show_task(const TasksOptions& options) {
  TRY_ASSIGN(const std::vector<Task> tasks, curriculum::load_suite(options.suite));
  const auto found = std::find_if(tasks.begin(), tasks.end(),
                                  [&](const Task& task) { return task.id == options.id; });
  if (found == tasks.end())
    return fail("{}: has no task '{}'; `tritonsmith tasks list {}` shows what it has",
                options.suite, options.id, options.suite);
  show("# {} of {}: {}, {}\n", found->id, found->suite, name_of(found->scale),
       name_of(found->split));
  if (!found->composition.empty()) show("# {}\n", found->composition);
  if (!found->instruction.empty()) show("# {}\n", found->instruction);
  hand_over(found->source + (found->source.ends_with('\n') ? "" : "\n"));
  return ok();
}

// Checks whether zeros or similar non-solutions would solve a task. It writes one line for each
// task with findings to a file beside the tasks.
Status lint_tasks(const TasksOptions& options, const std::vector<Task>& tasks) {
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

Status import_tasks(const TasksOptions& options) {
  const auto on_bad =
      options.keep_going ? curriculum::OnBadTask::skip : curriculum::OnBadTask::stop;
  std::error_code error;
  const bool folder = std::filesystem::is_directory(options.suite, error);
  TRY_ASSIGN(std::vector<Task> tasks, folder ? curriculum::import_folder(options.suite, on_bad)
                                             : curriculum::read_task_lines(options.suite, on_bad));
  if (!options.name.empty())
    for (Task& task : tasks) task.suite = options.name;
  TRY(curriculum::write_task_lines(options.out, tasks));
  show("{} tasks: {}\n", tasks.size(), options.out);
  return options.no_lint ? ok() : lint_tasks(options, tasks);
}

Status export_tasks(const TasksOptions& options) {
  TRY_ASSIGN(const std::vector<Task> tasks, selected_suite(options));
  TRY(curriculum::export_folder(options.out, tasks));
  show("{} tasks: {}\n", tasks.size(), options.out);
  return ok();
}

Status teach_tasks(const TasksOptions& options) {
  TeachConfig config;
  if (options.quickstart) {
    config.curriculum = curriculum::quickstart_options(1);
    config.teacher.styles = {"compact"};
    config.teacher.mistakes = 0.5;
    config.prompt.style = text::PromptStyle::compact;
  }
  TRY_ASSIGN(const Settings settings, settings_from_overrides(options.settings));
  TRY(apply_settings(config, settings, "--set"));
  config.curriculum.heldout = 0;  // the teacher says nothing about them
  const auto lessons = curriculum::make_lessons(config.curriculum);
  std::unique_ptr<gym::api::Judge> judge;
  Teaching teaching{.teacher = config.teacher,
                    .prompt = config.prompt,
                    .policy = options.policy,
                    .backend = options.backend};
  teaching.judge = [&]() -> Result<gym::api::Judge*> {
    TRY_ASSIGN(judge, open_judge("", options.gym));
    return judge.get();
  };
  TRY_ASSIGN(const Taught taught, teaching_examples(lessons, teaching));
  const std::filesystem::path out = options.out;
  if (out.has_parent_path()) TRY(make_directories(out.parent_path()));
  TRY(write_file_atomic(out, train::sft_examples_to_jsonl(taught.examples)));
  if (!options.references.empty())
    TRY(write_file_atomic(options.references, reference_lines(lessons, config.teacher)));
  std::string counts;
  for (const auto& [name, count] : taught.counts)
    counts += fmt::format("{}{} {}", counts.empty() ? "" : ", ", count, name);
  show("{} examples of {} tasks ({}): {}\n", taught.examples.size(), lessons.size(), counts,
       options.out);
  return ok();
}

using Action = Status (*)(const TasksOptions&);

// `example` holds the words after "tasks NAME".
CLI::App* add_action(CLI::App& tasks, const std::string& name, const std::string& help,
                     const std::string& example, Action action,
                     std::shared_ptr<TasksOptions> options, Run& run) {
  CLI::App* command = tasks.add_subcommand(name, help);
  add_example(*command, fmt::format("tasks {} {}", name, example));
  command->callback(
      [&run, action, options] { run = [action, options] { return finish(action(*options)); }; });
  return command;
}

void add_selection(CLI::App& command, TasksOptions& options) {
  command.add_option("--split", options.split, "Only train or heldout");
  command.add_option("--family", options.family, "Only this family");
  command.add_option("--limit", options.limit, "Only the first so many");
}

void add_makers(CLI::App& tasks, const std::shared_ptr<TasksOptions>& options, Run& run) {
  CLI::App* make =
      add_action(tasks, "make", "Write tasks of the built-in curriculum as JSONL",
                 "--out data/tasks.jsonl --train 500 --heldout 100", make_tasks, options, run);
  make->add_option("--out", options->out, "The JSONL to write")->required();
  make->add_flag("--quickstart", options->quickstart, "Begin with the quickstart's options");
  add_selection(*make, *options);
  for (const auto& field : CurriculumOptions::fields()) {
    std::string flag = field.name;
    std::replace(flag.begin(), flag.end(), '_', '-');
    make->add_option(
        "--" + flag, options->curriculum[field.name],
        fmt::format("{} (default {})", field.help, to_line(field.get(CurriculumOptions{}))));
  }
  CLI::App* teach =
      add_action(tasks, "teach", "Write teacher solutions of training tasks as JSONL for `sft`",
                 "--quickstart --out data/examples.jsonl", teach_tasks, options, run);
  teach->add_option("--out", options->out, "The JSONL to write")->required();
  teach->add_flag("--quickstart", options->quickstart, "Begin with the quickstart's options");
  teach->add_option("--set", options->settings, "KEY=VALUE, of:\n" + config_help<TeachConfig>());
  teach->add_option("--references", options->references,
                    "Also write an honest solution of each task as {task, kernel}, for "
                    "reward.similarity");
  add_choice(*teach, "--policy", options->policy,
             "Of the gym, where first answers are judged to be repaired (teacher.repairs)");
  add_choice(*teach, "--backend", options->backend, kBackendHelp);
  add_gym_options(*teach, options->gym);
}

void add_tasks_command(CLI::App& app, Run& run) {
  auto options = std::make_shared<TasksOptions>();
  CLI::App* tasks = app.add_subcommand("tasks", "Make, list, show, import and export tasks");
  tasks->require_subcommand(1);
  add_makers(*tasks, options, run);

  CLI::App* list = add_action(*tasks, "list", "List the tasks of a suite",
                              "curriculum --family softmax --limit 20", list_tasks, options, run);
  list->add_option("SUITE", options->suite, "curriculum, quickstart, a folder or a .jsonl")
      ->required();
  add_selection(*list, *options);

  CLI::App* show = add_action(*tasks, "show", "Print one task", "curriculum sm3-0ec16efcdd-small",
                              show_task, options, run);
  show->add_option("SUITE", options->suite, "curriculum, quickstart, a folder or a .jsonl")
      ->required();
  show->add_option("ID", options->id, "As `tasks list` shows it")->required();

  CLI::App* import =
      add_action(*tasks, "import",
                 "Check a folder of task files (KernelBench's layout) or a JSONL, and write JSONL",
                 "~/KernelBench --out kernelbench.jsonl", import_tasks, options, run);
  import->add_option("PATH", options->suite, "The folder or .jsonl")->required();
  import->add_option("--out", options->out, "The JSONL to write")->required();
  import->add_option("--suite", options->name,
                     "What to call the suite (default: the folder's name)");
  import->add_flag("--keep-going", options->keep_going, "Pass over what is no task");
  add_data_option(*import, options->gym.data);
  import->add_flag("--no-lint", options->no_lint,
                   "Do not run the tasks to see whether zeros or constants solve them");

  CLI::App* exporting = add_action(*tasks, "export", "Write the tasks of a suite as .py files",
                                   "data/tasks.jsonl --out folder", export_tasks, options, run);
  exporting->add_option("SUITE", options->suite, "curriculum, quickstart, a folder or a .jsonl")
      ->required();
  exporting->add_option("--out", options->out, "The folder to write into")->required();
  add_selection(*exporting, *options);
  add_from_run_command(*tasks, run);
}

const Command tasks_command(CommandGroup::tasks, "tasks", add_tasks_command);

}  // namespace
}  // namespace tritonsmith::cli
