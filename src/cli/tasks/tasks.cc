// `tritonsmith tasks make|list|show|lint|import|export|pairs|distil|curate|teach|from-run|from-module`: handles tasks
// from the curriculum or from other files, and makes examples for supervised fine-tuning. A SUITE is
// "curriculum", "quickstart" or "zoo" (all with options: "curriculum:seed=2,train=100"), a folder of
// task files, a .jsonl file or one .py file.
#include "curriculum/tasks.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/counted.h"
#include "base/file.h"
#include "cli/call/command.h"
#include "cli/call/command_line.h"
#include "cli/call/help.h"
#include "cli/call/output.h"
#include "cli/judge_text.h"
#include "cli/setup/judges.h"
#include "cli/setup/teacher_examples.h"
#include "cli/tasks/curate.h"
#include "cli/tasks/distil.h"
#include "cli/tasks/from_module.h"
#include "cli/tasks/from_run.h"
#include "cli/tasks/import.h"
#include "cli/tasks/lint.h"
#include "cli/tasks/pairs.h"
#include "cli/tasks/selection.h"
#include "curriculum/suite.h"
#include "curriculum/teacher/teacher.h"
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
  TaskSelection selection;
  std::string id, out, references;
  bool quickstart = false;
  std::vector<std::string> settings;
  std::map<std::string, std::string> curriculum;  // by option name
  GymChoice gym;
  Policy policy = Policy::strict;
  Backend backend = Backend::automatic;
};

Status make_tasks(const TasksOptions& options) {
  CurriculumOptions config =
      options.quickstart ? curriculum::quickstart_options(1) : CurriculumOptions{};
  std::vector<std::string> overrides;
  for (const auto& [name, value] : options.curriculum)
    if (!value.empty()) overrides.push_back(name + "=" + value);
  TRY_ASSIGN(Settings settings, curriculum::curriculum_settings(overrides));
  TRY(apply_settings(config, settings, "tasks make"));
  std::vector<Task> tasks = curriculum::make_curriculum(config);
  TRY(select_tasks(tasks, options.selection));
  if (tasks.empty()) return fail("these options give no tasks");
  TRY(curriculum::write_task_lines(options.out, tasks));
  show("{}: {}\n", counted(std::ssize(tasks), "task"), options.out);
  return ok();
}

Status list_tasks(const TasksOptions& options) {
  TaskSelection selection = options.selection;
  if (selection.suite.empty()) selection.suite = "curriculum";
  TRY_ASSIGN(const std::vector<Task> tasks, selected_suite(selection));
  std::size_t width = 2;
  for (const Task& task : tasks) width = std::max(width, task.id.size());
  show("{:<{}}  {:<11}  {:<5}  {:<7}  {}\n", "id", width, "family", "scale", "split",
       "composition");
  for (const Task& task : tasks)
    show("{:<{}}  {:<11}  {:<5}  {:<7}  {}\n", task.id, width,
         task.family.empty() ? "-" : task.family, name_of(task.scale), name_of(task.split),
         task.composition.empty() ? "-" : task.composition);
  show("{}\n", counted(std::ssize(tasks), "task"));
  return ok();
}

Status show_task(const TasksOptions& options) {
  TRY_ASSIGN(const std::vector<Task> tasks, curriculum::load_suite(options.selection.suite));
  const auto found = std::find_if(tasks.begin(), tasks.end(),
                                  [&](const Task& task) { return task.id == options.id; });
  if (found == tasks.end())
    return fail("{}: has no task '{}'; `tritonsmith tasks list {}` shows what it has",
                options.selection.suite, options.id, options.selection.suite);
  if (!found->instruction.empty()) show("# instruction: {}\n", found->instruction);
  show("# {} of {}: {}, {}\n", found->id, found->suite, name_of(found->scale),
       name_of(found->split));
  if (!found->composition.empty()) show("# {}\n", found->composition);
  hand_over(found->source + (found->source.ends_with('\n') ? "" : "\n"));
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
  for (const std::string& file : {options.out, options.references})
    if (!file.empty()) TRY(prepare_output_file(file));
  config.curriculum.heldout = 0;  // the teacher says nothing about them
  const auto generated_tasks = curriculum::generate_tasks(config.curriculum);
  std::unique_ptr<gym::api::Judge> judge;
  TeacherExampleOptions example_options{.teacher = config.teacher,
                                        .prompt = config.prompt,
                                        .policy = options.policy,
                                        .backend = options.backend};
  example_options.judge = [&]() -> Result<gym::api::Judge*> {
    TRY_ASSIGN(judge, open_judge("", options.gym));
    return judge.get();
  };
  TRY_ASSIGN(const TeacherExamples made, teacher_examples(generated_tasks, example_options));
  TRY(write_file_atomic(options.out, train::sft_examples_to_jsonl(made.examples)));
  if (!options.references.empty())
    TRY(write_file_atomic(options.references, reference_lines(generated_tasks, config.teacher)));
  std::string counts;
  for (const auto& [name, count] : made.counts)
    counts += fmt::format("{}{} {}", counts.empty() ? "" : ", ", count, name);
  show("{} examples of {} tasks ({}): {}\n", made.examples.size(), generated_tasks.size(), counts,
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

void add_makers(CLI::App& tasks, const std::shared_ptr<TasksOptions>& options, Run& run) {
  CLI::App* make =
      add_action(tasks, "make", "Write tasks of the built-in curriculum as JSONL",
                 "--out data/tasks.jsonl --train 500 --heldout 100", make_tasks, options, run);
  make->add_option("--out", options->out, "The JSONL to write")->required();
  make->add_flag("--quickstart", options->quickstart, "Begin with the quickstart's options");
  add_selection(*make, options->selection);
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
  note_settings<TeachConfig>(*teach);
  teach->add_option("--references", options->references,
                    "Also write an honest solution of each task as {task, kernel}, for "
                    "reward.similarity");
  add_choice(*teach, "--policy", options->policy,
             "The policy under which the gym judges first answers that are to be repaired "
             "(teacher.repairs)");
  add_choice(*teach, "--backend", options->backend, kBackendHelp);
  add_gym_options(*teach, options->gym);
}

void add_tasks_command(CLI::App& app, Run& run) {
  auto options = std::make_shared<TasksOptions>();
  CLI::App* tasks = app.add_subcommand("tasks", "Make, list, show, lint, import and export tasks");
  tasks->require_subcommand(1);
  add_example(*tasks, "tasks make --out data/tasks.jsonl --train 500 --heldout 100");
  add_example(*tasks, "tasks list --family softmax");
  add_makers(*tasks, options, run);

  CLI::App* list = add_action(*tasks, "list", "List the tasks of a suite",
                              "curriculum --family softmax --limit 20", list_tasks, options, run);
  list->add_option("SUITE", options->selection.suite,
                   "The suite: curriculum, quickstart, zoo, a folder or a .jsonl")
      ->default_str("curriculum");
  add_selection(*list, options->selection);

  CLI::App* show = add_action(*tasks, "show", "Print one task", "curriculum sm3-7eca88c369-small",
                              show_task, options, run);
  show->add_option("SUITE", options->selection.suite,
                   "The suite: curriculum, quickstart, zoo, a folder or a .jsonl")
      ->required();
  show->add_option("ID", options->id, "The task's id, as `tasks list` shows it")->required();

  add_lint_command(*tasks, run);
  add_import_command(*tasks, run);
  add_export_command(*tasks, run);
  add_pairs_command(*tasks, run);
  add_distil_command(*tasks, run);
  add_curate_command(*tasks, run);
  add_from_run_command(*tasks, run);
  add_from_module_command(*tasks, run);
}

const Command tasks_command(CommandGroup::tasks, "tasks", add_tasks_command);

}  // namespace
}  // namespace tritonsmith::cli
