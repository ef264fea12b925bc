// `tritonsmith eval`: evaluates a model on a suite of tasks, or a folder of samples that others wrote.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/file.h"
#include "base/jsonl.h"
#include "base/log.h"
#include "cli/call/command.h"
#include "cli/call/help.h"
#include "cli/call/output.h"
#include "cli/call/version.h"
#include "cli/eval_search.h"
#include "cli/judge_text.h"
#include "cli/setup/judges.h"
#include "cli/setup/prompt_options.h"
#include "cli/setup/remote_writer.h"
#include "cli/setup/search_options.h"
#include "cli/setup/turns_options.h"
#include "cli/setup/verifier_options.h"
#include "curriculum/suite.h"
#include "data/sample.h"
#include "eval/judge_samples.h"
#include "eval/metrics.h"
#include "report/markdown.h"
#include "report/report.h"
#include "report/tables.h"

namespace tritonsmith::cli {
namespace {

struct EvalConfig {
  std::string name;
  std::vector<std::string> baselines;
  int samples = 8;
  int trials = 3;
  std::uint64_t seed = 1;
  int limit = 0;
  Policy policy = Policy::strict;
  Backend backend = Backend::automatic;
  generate::SamplingParams sampling;
  std::vector<int> levels;
};

struct EvalOptions {
  std::string suite, out;
  std::string samples_folder;  // empty: a model writes
  std::string unused;          // an option that the call gave in vain
  ModelChoice model;
  EvalConfig config;
  GymChoice gym;
  PromptOptions prompt_options;
  episode::TurnsConfig turns;
  SearchEval search;
  VerifierChoice verifier;
  int attempts = 64;  // of a search
};

// Returns the config's name for the evaluation, or the name of its directory. The latter makes
// several evaluations in one report differ.
std::string evaluation_name(const EvalOptions& options) {
  if (!options.config.name.empty()) return options.config.name;
  const auto folder = std::filesystem::absolute(options.out).lexically_normal();
  return folder.has_filename() ? folder.filename() : folder.parent_path().filename();
}

Status keep_levels(std::vector<Task>& tasks, const std::vector<int>& levels) {
  if (levels.empty()) return ok();
  std::erase_if(tasks, [&](const Task& task) {
    const std::string level = eval::level_of(task.id, task.family, task.suite);
    return std::ranges::none_of(
        levels, [&](int wanted) { return level == fmt::format("level{}", wanted); });
  });
  if (tasks.empty())
    return fail("--level: the suite has no task in a folder level{}", levels.front());
  return ok();
}

// Reads the findings about the tasks that `tasks import` wrote to FILE.findings.jsonl.
Result<std::map<std::string, std::vector<std::string>>> known_marks(const std::string& suite) {
  std::map<std::string, std::vector<std::string>> marks;
  const std::string file = suite + ".findings.jsonl";
  std::error_code ignored;
  if (!std::filesystem::exists(file, ignored)) return marks;
  const auto read = for_each_json_line(file, {}, [&](const JsonLine& line) -> Status {
    JsonReader reader(line.json);
    const std::string task = reader.string("task");
    std::vector<Finding> findings;
    for (const Json& each : reader.array("findings")) {
      TRY_ASSIGN(Finding finding, finding_from_json(each));
      findings.push_back(std::move(finding));
    }
    TRY(reader.status());
    marks[task] = eval::marks_in(findings);
    return ok();
  });
  TRY(read);
  return marks;
}

// Prints the rates. If they exist, it also prints the rates by turn and without degenerate tasks.
void print_evaluation(const Evaluation& evaluation) {
  const std::vector<Evaluation> all = {evaluation};
  show_text(report::evaluation_table(all));
  if (!evaluation.by_turn.empty()) show("\n{}", report::to_text(report::turn_table(all).rows));
  if (evaluation.sound)
    show("\nwithout {} tasks that the linter calls degenerate: {} correct, {} accepted\n",
         evaluation.tasks - evaluation.sound->tasks,
         report::percent(evaluation.sound->sampled.correct),
         report::percent(evaluation.sound->sampled.accepted));
}

// Explains rates of 0 %. They say nothing about a model if the prompts had another form than in
// training.
Status explain_missing_code(const Evaluation& evaluation, const std::filesystem::path& directory) {
  if (evaluation.parsed != 0) return ok();
  TRY_ASSIGN(const auto samples, read_jsonl(directory / "samples.jsonl", sample_from_json));
  const auto greedy =
      std::ranges::find_if(samples, [](const Sample& sample) { return sample.member < 0; });
  const auto cut_off = std::ranges::count_if(samples, [](const Sample& sample) {
    return sample.completion.finish == FinishReason::length;
  });
  LOG("eval: {}", without_code({.count = samples.size(),
                                .cut_off = static_cast<std::size_t>(cut_off),
                                .first = greedy == samples.end() ? "" : greedy->completion.text,
                                .kept = directory / "samples.jsonl"}));
  return ok();
}

// Writes the report and prints the rates.
Status report_evaluation(const Evaluation& evaluation, const std::string& directory) {
  const std::vector<Evaluation> all = {evaluation};
  TRY(write_file_atomic(directory + "/report.md", report::render_markdown(evaluation.name, all)));
  print_evaluation(evaluation);
  return ok();
}

// `turns` counts where the call gave it.
search::SearchConfig search_config_of(const EvalOptions& options) {
  search::SearchConfig config{
      .until = search::Until::first, .attempts = options.attempts, .workers = 1};
  if (options.turns.limit > 1) config.turns = options.turns;
  return config;
}

Status search_for_each(const EvalOptions& options, std::span<const Task> tasks,
                       OpenedWriter& opened, gym::api::Judge& judge) {
  const EvalConfig& config = options.config;
  return evaluate_strategies(
      tasks,
      {.suite = options.suite,
       .model = options.model.directory,
       .config = search_config_of(options),
       .sampling = config.sampling,
       .policy = config.policy,
       .backend = config.backend,
       .trials = config.trials,
       .seed = config.seed,
       .directory = options.out,
       .program = program_name(),
       .cost = [&opened](const Usage& usage) { return opened.cost_of(usage); }},
      options.search, opened.prompted_writer(), judge);
}

Status evaluate_model(EvalOptions options) {
  EvalConfig& config = options.config;
  TRY_ASSIGN(std::vector<Task> tasks, curriculum::load_suite(options.suite));
  TRY(keep_levels(tasks, config.levels));
  if (config.limit > 0 && tasks.size() > static_cast<std::size_t>(config.limit))
    tasks.resize(static_cast<std::size_t>(config.limit));
  TRY_ASSIGN(auto marks, known_marks(options.suite));
  TRY(find_model(options.model));
  TRY_ASSIGN(const text::PromptRecord asked,
             prompt_record_of(options.prompt_options, options.model.directory));
  TRY_ASSIGN(auto opened, open_writer(options.model, asked.prompt,
                                      std::filesystem::path(options.out) / "requests.sqlite"));
  config.sampling.max_new_tokens = new_tokens(asked, opened->positions(), options.model.name);
  TRY_ASSIGN(auto verifying, JudgeWithVerifier::open(options.verifier, options.out));
  TRY_ASSIGN(const auto gym, open_judge(options.out, options.gym));
  gym::api::Judge& judge = verifying.before(*gym);
  if (!options.search.strategies.empty()) {
    if (verifying.verifier() != nullptr && !verifying.rejects())
      return fail(
          "--search: a verifier's notes change no search; give --verifier-set "
          "severity=reject, or leave --verifier out");
    TRY(search_for_each(options, tasks, *opened, judge));
    if (verifying.verifier() != nullptr) TRY(verifying.verifier()->account());
    return opened->account(options.out);
  }
  TRY_ASSIGN(const Evaluation evaluation, eval::evaluate(tasks,
                                                         {.name = evaluation_name(options),
                                                          .suite = options.suite,
                                                          .model = options.model.directory,
                                                          .samples = config.samples,
                                                          .sampling = config.sampling,
                                                          .policy = config.policy,
                                                          .backend = config.backend,
                                                          .trials = config.trials,
                                                          .baselines = config.baselines,
                                                          .seed = config.seed,
                                                          .turns = options.turns,
                                                          .marks = std::move(marks),
                                                          .directory = options.out,
                                                          .program = program_name()},
                                                         opened->prompted_writer(), judge));
  TRY(opened->account(options.out));
  TRY(report_evaluation(evaluation, options.out));
  TRY(verifying.review(options.out, tasks));
  TRY(explain_missing_code(evaluation, options.out));
  show("records: {}\n", options.out);
  return ok();
}

// Names the samples about which nothing is known. Fails if a fault of the gym is the reason: the
// next call judges those.
Status account_for(const eval::JudgedSamples& judged) {
  std::size_t faults = 0;
  for (const eval::WithoutResult& each : judged.without_result) {
    show("no result: {}: {}\n", each.file, each.reason);
    faults += each.fault == Fault::infrastructure ? 1 : 0;
  }
  TRY(judged.gym);
  if (faults == 0) return ok();
  return fail_by_fault(
      "{} samples have no result by a fault of the gym; the same command judges them again, and "
      "`tritonsmith doctor` may say why",
      faults);
}

Status evaluate_samples(const EvalOptions& options) {
  if (!options.unused.empty())
    return fail("{}: --from-samples needs no model; leave it out", options.unused);
  const EvalConfig& config = options.config;
  TRY_ASSIGN(auto samples, eval::read_samples_folder(options.samples_folder, config.levels));
  TRY_ASSIGN(const std::vector<Task> tasks, curriculum::load_suite(options.suite));
  TRY(eval::find_tasks(tasks, samples));
  TRY_ASSIGN(auto marks, known_marks(options.suite));
  TRY_ASSIGN(auto verifying, JudgeWithVerifier::open(options.verifier, options.out));
  TRY_ASSIGN(const auto judge, open_judge(options.out, options.gym));
  TRY_ASSIGN(const auto judged, eval::judge_samples(samples,
                                                    {.name = evaluation_name(options),
                                                     .suite = options.suite,
                                                     .folder = options.samples_folder,
                                                     .policy = config.policy,
                                                     .backend = config.backend,
                                                     .trials = config.trials,
                                                     .baselines = config.baselines,
                                                     .marks = std::move(marks),
                                                     .directory = options.out,
                                                     .program = program_name()},
                                                    verifying.before(*judge)));
  if (judged.evaluation) {
    TRY(report_evaluation(*judged.evaluation, options.out));
    TRY(verifying.review(options.out, tasks));
    show("records: {}\n", options.out);
  }
  return account_for(judged);
}

Status run_eval(const EvalOptions& options) {
  if (!options.samples_folder.empty()) return evaluate_samples(options);
  if (options.model.name.empty())
    return fail("--model is required, or --from-samples with a folder of samples");
  return evaluate_model(options);
}

// Returns an option of the call that a folder of samples has no use for, or nothing.
std::string unused_option(const CLI::App& command) {
  constexpr std::string_view used[] = {
      "--from-samples", "--suite",           "--out",         "--name",
      "--trials",       "--level",           "--gym",         "--data",
      "--policy",       "--token-file",      "--backend",     "--baselines",
      "--verifier",     "--verifier-config", "--verifier-set"};
  for (const CLI::Option* option : command.get_options())
    if (option->count() > 0 && std::ranges::find(used, option->get_name()) == std::end(used))
      return option->get_name();
  return {};
}

void add_search_options(CLI::App& command, EvalOptions& options) {
  std::vector<std::string> strategies;
  for (const auto& [strategy, name] : enum_names<search::Strategy>) strategies.emplace_back(name);
  command
      .add_option("--search", options.search.strategies,
                  "Search for each task by this strategy, until a kernel is accepted "
                  "(repeatable; docs/search.md)")
      ->check(CLI::IsMember(strategies));
  command
      .add_option("--attempts", options.attempts,
                  "How many attempts each task's search may take, with --search")
      ->check(CLI::Range(1, 1000000));
  add_search_settings(command, options.search.settings);
}

void add_eval_command(CLI::App& app, Run& run) {
  auto options = std::make_shared<EvalOptions>();
  EvalConfig& config = options->config;
  CLI::App* command = app.add_subcommand("eval", "Measure how a model does on a suite of tasks");
  command
      ->add_option("--suite", options->suite,
                   "A folder of task files (a KernelBench checkout), a .jsonl, or 'curriculum'")
      ->required();
  add_model_options(*command, options->model);
  command->get_option("--model")->required(false);
  command->add_option(
      "--from-samples", options->samples_folder,
      "Judge this folder of samples in KernelBench's layout, in place of a model's");
  command
      ->add_option("--out", options->out,
                   "The folder of the records. An evaluation that stopped there continues")
      ->required();
  command->add_option("--name", config.name,
                      "The name in reports (default: that of the folder of --out)");
  command
      ->add_option("--samples", config.samples,
                   "How many completions are sampled for each task, beside a greedy one")
      ->check(CLI::Range(0, 100000));
  add_search_options(*command, *options);
  add_sampling_options(*command, config.sampling);
  add_prompt_options(*command, options->prompt_options);
  command->add_option("--trials", config.trials, "On how many inputs each kernel is tried")
      ->check(CLI::Range(1, 1000));
  command->add_option("--level", config.levels,
                      "Take only tasks in a folder levelN (KernelBench's)");
  add_turns_options(*command, options->turns);
  add_verifier_options(*command, options->verifier);
  command->add_option("--limit", config.limit,
                      "Take only this many tasks from the beginning; 0: all");
  command->add_option("--seed", config.seed, "Every random choice follows from this number");
  add_gym_options(*command, options->gym);
  command
      ->add_option("--baselines", config.baselines,
                   "On a GPU, also time the task in these other ways: eager, torch_compile")
      ->check(CLI::IsMember({"eager", "torch_compile"}));
  add_choice(*command, "--policy", config.policy, kPolicyHelp);
  add_choice(*command, "--backend", config.backend, kBackendHelp);
  add_example(*command,
              "eval --suite quickstart --model runs/rl-small/checkpoints/step-120 --out runs/eval");
  add_example(
      *command,
      "eval --suite quickstart --model DIR --out runs/search --search parallel --search beam");
  add_example(*command,
              "eval --suite ~/KernelBench --from-samples ~/KernelBench/runs/NAME --out runs/NAME");
  add_example(*command,
              "eval --suite quickstart --model DIR --out runs/eval --verifier openai:NAME "
              "--verifier-set kernels=every");
  command->callback([&run, options, command] {
    options->unused = unused_option(*command);
    run = [options] { return finish(run_eval(*options)); };
  });
}

const Command eval_command(CommandGroup::model, "eval", add_eval_command);

}  // namespace
}  // namespace tritonsmith::cli
