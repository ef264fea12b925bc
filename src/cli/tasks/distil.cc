#include "cli/tasks/distil.h"

#include <algorithm>

#include "base/log.h"
#include "cli/call/help.h"
#include "cli/call/output.h"
#include "cli/judge_text.h"
#include "cli/setup/judges.h"
#include "cli/setup/prompt_options.h"
#include "cli/setup/remote_writer.h"
#include "cli/setup/turns_options.h"
#include "curriculum/suite.h"
#include "distil/distil_run.h"

namespace tritonsmith::cli {
namespace {

struct DistilChoice {
  std::string suite;
  std::size_t limit = 0;
  ModelChoice model;
  GymChoice gym;
  PromptOptions prompt_options;
  std::vector<std::string> prompts = {"conversion"};
  distil::DistilOptions run{.sampling = {.temperature = 0.8},
                            .turns = {.limit = 4, .end_when = episode::EndWhen::accepted}};
};

Result<std::vector<Task>> tasks_to_ask(const DistilChoice& choice) {
  TRY_ASSIGN(auto tasks, curriculum::load_suite(choice.suite));
  if (choice.limit > 0 && tasks.size() > choice.limit) tasks.resize(choice.limit);
  const auto heldout = std::ranges::count(tasks, TaskSplit::heldout, &Task::split);
  if (heldout > 0)
    LOG("{} of {} tasks are held out for evaluation: do not train on what becomes of them", heldout,
        tasks.size());
  return tasks;
}

void show_counts_of(const distil::DistilCounts& counts, const std::string& directory) {
  show("{} conversations, {} turns: {} accepted, {} of them repaired; {} tokens: {}\n",
       counts.finished, counts.turns, counts.accepted, counts.repaired, counts.tokens, directory);
  if (counts.too_long > 0)
    show("{} prompts are too long for the model's context\n", counts.too_long);
}

Status ask_teacher(DistilChoice choice) {
  distil::DistilOptions& run = choice.run;
  for (const std::string& each : choice.prompts) {
    TRY_ASSIGN(const auto form, enum_from_name<distil::PromptForm>(each));
    if (std::ranges::find(run.forms, form) == run.forms.end()) run.forms.push_back(form);
  }
  TRY_ASSIGN(const std::vector<Task> tasks, tasks_to_ask(choice));
  TRY(find_model(choice.model));
  TRY_ASSIGN(const text::PromptRecord asked,
             prompt_record_of(choice.prompt_options, choice.model.directory));
  TRY_ASSIGN(const auto opened,
             open_writer(choice.model, asked.prompt, run.directory / "requests.sqlite"));
  run.model = choice.model.directory;
  run.sampling.max_new_tokens = new_tokens(asked, opened->positions(), choice.model.name);
  TRY_ASSIGN(const auto judge, open_judge(run.directory, choice.gym));
  Progress progress("asking and judging",
                    tasks.size() * run.forms.size() * static_cast<std::size_t>(run.samples));
  const auto tell = [&](const distil::DistilCounts& counts) {
    const std::string detail =
        fmt::format("{} of {} turns accepted", counts.accepted, counts.turns);
    if (counts.finished == counts.finished_before) progress.count_from(counts.finished);
    progress.advance_to(counts.finished, detail);
  };
  const eval::PromptedWriter writes = opened->prompted_writer();
  TRY_ASSIGN(const auto counts, distil::distil(tasks, run, writes.writer, *judge, tell));
  TRY(opened->account(run.directory));
  show_counts_of(counts, run.directory.string());
  if (counts.faults == 0) return ok();
  return fail_by_fault(
      "{} answers have no verdict by a fault of the gym; the same command judges them again, and "
      "`tritonsmith doctor` may say why",
      counts.faults);
}

}  // namespace

void add_distil_command(CLI::App& tasks, Run& run) {
  auto choice = std::make_shared<DistilChoice>();
  choice->run.forms.clear();
  distil::DistilOptions& options = choice->run;
  CLI::App* command = tasks.add_subcommand(
      "distil", "Ask a teacher for kernels, judge its answers, and have it repair what failed");
  command
      ->add_option("--suite", choice->suite,
                   "The tasks: curriculum with options, a folder of task files, or a .jsonl")
      ->required();
  add_model_options(*command, choice->model);
  command
      ->add_option("--out", options.directory,
                   "The folder for samples.jsonl. A later call continues where this one stopped")
      ->required();
  command
      ->add_option("--samples", options.samples,
                   "How many conversations each task has in each form")
      ->check(CLI::Range(1, 10000))
      ->capture_default_str();
  command
      ->add_option("--prompts", choice->prompts,
                   "How the teacher is asked (repeatable): conversion, implementation, kernelllm; "
                   "compact for a model that was trained on compact prompts here")
      ->check(CLI::IsMember({"conversion", "implementation", "kernelllm", "compact"}))
      ->delimiter(',')
      ->default_str("conversion");
  command->add_option("--system", options.system, "A system message before each prompt");
  add_turns_options(*command, options.turns);
  add_sampling_options(*command, options.sampling);
  command
      ->add_option(
          "--max-tokens", choice->prompt_options.max_tokens,
          "The most tokens of an answer (default: up to 8192 of a remote model, else up to 2048)")
      ->check(CLI::Range(1, 1 << 24));
  command->add_option("--trials", options.trials, "On how many inputs each kernel is tried")
      ->check(CLI::Range(1, 1000));
  command->add_option("--seed", options.seed, "Every random choice follows from this number");
  command->add_option("--limit", choice->limit,
                      "Take only this many tasks from the beginning; 0: all");
  command->add_option("--at-once", options.in_flight, "How many conversations run at the same time")
      ->check(CLI::Range(1, 100000))
      ->capture_default_str();
  add_choice(*command, "--policy", options.policy, kPolicyHelp);
  add_choice(*command, "--backend", options.backend, kBackendHelp);
  add_gym_options(*command, choice->gym);
  add_example(*command,
              "tasks distil --suite curriculum:train=500,heldout=0 --model openai:NAME --base-url "
              "https://HOST/v1 --samples 4 --turns 4 --out data/teacher");
  command->callback([&run, choice] { run = [choice] { return finish(ask_teacher(*choice)); }; });
}

}  // namespace tritonsmith::cli
