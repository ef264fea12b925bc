// `tritonsmith write MODULE.py`: searches for the fastest verified kernel for a module, and prints it.
// The kernel goes to stdout or a file, and the summary of all attempts to stderr. Without a verified
// kernel the exit code is 1. SIGINT and SIGTERM stop the search: its best kernel is written all the
// same, and the exit code is 3.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "base/file.h"
#include "base/log.h"
#include "base/rng.h"
#include "base/temp_dir.h"
#include "cli/attempt_lines.h"
#include "cli/call/command.h"
#include "cli/call/help.h"
#include "cli/call/output.h"
#include "cli/judge_text.h"
#include "cli/setup/judges.h"
#include "cli/setup/module_options.h"
#include "cli/setup/prompt_options.h"
#include "cli/setup/remote_writer.h"
#include "cli/setup/search_options.h"
#include "cli/setup/turns_options.h"
#include "cli/setup/verifier_options.h"
#include "eval/conversation_results.h"
#include "eval/kept_options.h"
#include "eval/metrics.h"
#include "gym/api/every_task_judge.h"
#include "gym/api/task_check.h"
#include "modules/patch.h"
#include "search/ending.h"
#include "search/ptx_edits.h"
#include "search/recorded_search.h"
#include "search/searches.h"
#include "search/words.h"
#include "train/run/stop.h"

namespace tritonsmith::cli {
namespace {

constexpr int kAttempts = search::SearchConfig{}.attempts;

struct WriteOptions {
  GymChoice gym;
  std::string module, instruction, out, patch;
  std::string records;  // empty: nothing is kept
  ModuleOptions arguments;
  ModelChoice model;
  int samples = 0;  // 0: as many as make kAttempts
  int trials = 5;
  std::uint64_t seed = 1;
  generate::SamplingParams sampling{.temperature = 0.8};
  Policy policy = Policy::strict;
  Backend backend = Backend::automatic;
  PromptOptions prompt_options;
  episode::TurnsConfig turns;
  search::Strategy strategy = search::SearchConfig{}.strategy;
  std::vector<std::string> settings;
  VerifierChoice verifier;
};

// The search of one module, with the folder of its records.
struct Writing {
  std::optional<TempDir> temporary;
  std::filesystem::path folder;
  std::unique_ptr<gym::api::Judge> judge_of_one;
  std::optional<gym::api::EveryTaskJudge> judge;
  std::optional<JudgeWithVerifier> verifying;
  std::optional<search::SearchFile> file;
  std::optional<search::TaskLog> log;
  std::optional<search::Search> search;
};

// The turns of each conversation of a sequential search.
std::vector<eval::Conversation> conversations_of(const search::History& history) {
  std::vector<eval::Conversation> conversations;
  for (const search::Ask& ask : history.asks()) {
    const search::Attempt* attempt = history.attempt(ask.number);
    if (attempt == nullptr || ask.chain == search::kNone) continue;
    const auto chain = static_cast<std::size_t>(ask.chain);
    if (conversations.size() <= chain) conversations.resize(chain + 1);
    conversations[chain].verdicts.push_back(attempt->verdict);
    conversations[chain].tokens.push_back(static_cast<int>(attempt->usage.completion_tokens));
  }
  std::erase_if(conversations, [](const auto& each) { return each.verdicts.empty(); });
  return conversations;
}

std::string fastest_of(const std::optional<double>& speedup) {
  return speedup ? fmt::format(" (fastest {:.2f})", *speedup) : "";
}

// Logs "turn 2: 16 completions, 3 verified, 4210 tokens, 12.3 s of judging; of 16 conversations 9
// are verified at their last turn (fastest 1.31), 11 at their best (fastest 1.52)".
void log_turns(const std::vector<eval::Conversation>& conversations) {
  for (std::size_t i = 0;; ++i) {
    int completions = 0, verified = 0, tokens = 0;
    double judge_seconds = 0;
    for (const eval::Conversation& each : conversations) {
      if (each.verdicts.size() <= i) continue;
      ++completions;
      verified += each.verdicts[i].accepted ? 1 : 0;
      tokens += each.tokens[i];
      judge_seconds += eval::judge_seconds(each.verdicts[i]);
    }
    if (completions == 0) return;
    const eval::ConversationResults results =
        eval::results_after(static_cast<int>(i) + 1, conversations);
    LOG("turn {}: {} completions, {} verified, {} tokens, {:.1f} s of judging; of {} conversations "
        "{} are verified at their last turn{}, {} at their best{}",
        i + 1, completions, verified, tokens, judge_seconds, conversations.size(), results.last,
        fastest_of(results.last_speedup), results.best, fastest_of(results.best_speedup));
  }
}

Result<search::SearchConfig> config_of(const WriteOptions& options) {
  const bool has_turns = options.strategy == search::Strategy::sequential;
  return search_config({.strategy = options.strategy,
                        .attempts = options.samples * options.turns.limit,
                        .workers = 16,
                        .chains = has_turns ? options.samples : 0,
                        .turns = options.turns},
                       options.settings);
}

// The settings of the budget. A later call may change them, and so extends the search.
const std::set<std::string> kBudget = {"search.until",   "search.attempts", "search.judgements",
                                       "search.seconds", "search.tokens",   "search.money",
                                       "search.light",   "search.patience", "search.chains",
                                       "search.tune",    "search.ptx"};

// Returns the options on which the records of a search depend. A search continues in a folder of
// records only under the same options, except for its budget.
Json what_decides(const std::vector<Task>& tasks, const WriteOptions& options,
                  const search::SearchConfig& config) {
  Json decides = {{"model", options.model.name},
                  {"policy", name_of(options.policy)},
                  {"backend", name_of(options.backend)},
                  {"trials", options.trials},
                  {"seed", options.seed}};
  for (const Task& task : tasks) decides["module"].push_back(task.source);
  for (const auto& [name, value] : settings_of(options.sampling))
    decides["sampling." + name] = value;
  for (const auto& [name, value] : settings_of(config)) decides["search." + name] = value;
  return decides;
}

Status open_search(OpenedWriter& opened, const std::vector<Task>& tasks,
                   const WriteOptions& options, Writing& writing) {
  if (options.records.empty()) {
    TRY_ASSIGN(writing.temporary, TempDir::make("write"));
    writing.folder = writing.temporary->path();
  } else {
    writing.folder = options.records;
    TRY(make_directories(writing.folder));
  }
  TRY_ASSIGN(const search::SearchConfig config, config_of(options));
  TRY_ASSIGN(writing.verifying, JudgeWithVerifier::open(options.verifier, writing.folder));
  const Json decides = what_decides(tasks, options, config);
  TRY_ASSIGN(const bool is_extended, eval::differs_from_kept(writing.folder, decides, kBudget));
  if (options.gym.url.empty()) LOG("starting the judge");
  TRY_ASSIGN(writing.judge_of_one, open_judge(writing.folder, options.gym));
  writing.judge.emplace(*writing.judge_of_one, tasks);
  TRY_ASSIGN(writing.file, search::SearchFile::open(writing.folder / "search.jsonl"));
  const eval::PromptedWriter prompted = opened.prompted_writer();
  const Task& task = tasks.front();
  writing.log.emplace(*writing.file, task.id);
  writing.search.emplace(
      search::SearchRequest{
          .task = task,
          .prompting = {.prompt = prompted.prompt(task), .style = prompted.feedback},
          .sampling = options.sampling,
          .policy = options.policy,
          .backend = options.backend,
          .trials = options.trials,
          .seed = options.seed,
          .config = config,
          .cost = [&opened](const Usage& usage) { return opened.cost_of(usage); }},
      *writing.log);
  const std::vector<Json>& past = writing.file->past(task.id);
  using enum search::Search::ResumedBudget;
  // A kill behind this line lets the next call extend the search once more, which changes nothing.
  TRY(writing.search->resume(past, is_extended ? other : same));
  TRY(search::keep_tasks(writing.folder, tasks));
  return eval::replace_options(writing.folder, decides);
}

// Fails if the module itself fails, before anything is asked of a model.
Status check_tasks(const std::vector<Task>& tasks, const WriteOptions& options, Writing& writing,
                   const train::StopFlag& stop) {
  if (!writing.search->history().asks().empty()) return ok();  // the search continues
  TRY_ASSIGN(const auto why,
             gym::api::why_unjudgeable(*writing.judge_of_one, tasks, options.backend,
                                       [&stop] { return stop.load(); }));
  return why ? fail("{}: {}", options.module, *why) : ok();
}

// Returns at the end of the search, or soon after `stop` is set.
Status run_search(generate::Writer& writer, Writing& writing, const train::StopFlag& stop) {
  search::Search& search = *writing.search;
  gym::api::FaultStreak faults(std::min(gym::api::kFaultsInARow, search.request().config.attempts));
  gym::api::Judge& judge = writing.verifying->before(*writing.judge);
  search::Searches searches(
      {.writer = writer, .judge = judge, .faults = faults, .is_stopped = [&stop] {
         return stop.load();
       }});
  searches.add(search);
  AttemptLines lines(search);
  for (;;) {
    TRY_ASSIGN(const auto finished, searches.next());
    if (!finished) return ok();
    lines.add(*finished->attempt);
  }
}

// Returns "the best is of turn 2, speed-up 1.31".
std::string words_for(const search::Attempt& best) {
  std::string label = fmt::format("attempt {}", best.ask.number + 1);
  if (best.ask.kind == search::AskKind::tune)
    label += fmt::format(", which tunes attempt {}", best.ask.parent + 1);
  if (best.ask.chain != search::kNone) label = fmt::format("of turn {}", best.ask.round + 1);
  std::string text = "the best is " + label;
  if (best.verdict.speedup) text += fmt::format(", speed-up {:.2f}", *best.verdict.speedup);
  if (best.verdict.speed_of_light)
    text +=
        fmt::format(", {:.0f} % of the speed of light", 100 * best.verdict.speed_of_light->share);
  return text;
}

// Logs "Block with randn(8, 64): speed-up 1.31, 0.0120 ms" for each task, if there are several.
void log_each_task(const std::vector<Task>& tasks, const std::vector<Verdict>& verdicts) {
  for (std::size_t i = 0; tasks.size() > 1 && i < verdicts.size(); ++i) {
    const Verdict& verdict = verdicts[i];
    LOG("{}: {}", tasks[i].id,
        verdict.speedup && verdict.time_ms
            ? fmt::format("speed-up {:.2f}, {:.4f} ms", *verdict.speedup, verdict.time_ms->median)
            : "verified");
  }
}

// Says what the verifier thinks of the best kernel. If it rejects, it has spoken already.
Status review_best(Writing& writing, const search::Attempt& best) {
  OpenedVerifier* opened = writing.verifying->verifier();
  if (opened == nullptr) return ok();
  const search::SearchRequest& request = writing.search->request();
  TRY_ASSIGN(const auto opinions,
             verifier::review_all(
                 opened->verifier(),
                 {{.task = &request.task, .kernel = best.kernel, .policy = request.policy}}));
  for (const Finding& finding : opinions.front().findings)
    LOG("{}: {}", finding.rule, finding.message);
  if (opinions.front().findings.empty()) LOG("the verifier does not object to the kernel");
  return opened->account();
}

Status check_patch(const WriteOptions& options) {
  if (options.patch.empty()) return ok();
  if (!options.patch.ends_with(".py")) return fail("--patch {}: must end in .py", options.patch);
  if (!modules::is_python_name(std::filesystem::path(options.patch).stem().string()))
    return fail(
        "--patch {}: Python cannot import a module of this name; take one of letters, digits "
        "and _, as in block_triton.py",
        options.patch);
  return ok();
}

// Writes the module that replaces the user's own, and the test beside it.
Status write_patch(const std::filesystem::path& file, const modules::ModuleTasks& made,
                   const std::string& kernel) {
  const std::string name = file.stem().string();
  const modules::Patch patch = modules::patch_of(made, kernel, name);
  const std::filesystem::path test = file.parent_path() / (name + "_test.py");
  TRY(write_file_atomic(file, patch.module));
  TRY(write_file_atomic(test, patch.test));
  LOG("{} takes the place of {}; `pytest {}` compares both on a GPU", file.string(), made.name,
      test.string());
  return ok();
}

// The module and the two results are three files. Their folders are made before the search.
Status check_outputs(const WriteOptions& options, const std::string& module) {
  const auto are_one = [](const std::string& one, const std::string& other) {
    std::error_code ignored;
    return !one.empty() && !other.empty() &&
           std::filesystem::weakly_canonical(one, ignored) ==
               std::filesystem::weakly_canonical(other, ignored);
  };
  for (const auto& [option, file] : {std::pair("--out", options.out), {"--patch", options.patch}}) {
    if (are_one(file, module))
      return fail("{} {}: this would overwrite the module; name another file", option, file);
    if (!file.empty()) TRY(prepare_output_file(file));
  }
  if (are_one(options.out, options.patch))
    return fail("--out and --patch name the same file: {}", options.out);
  return ok();
}

// Edits of PTX need the judge of this program, and a folder for what comes out.
Status check_edits(const WriteOptions& options) {
  TRY_ASSIGN(const search::SearchConfig config, config_of(options));
  if (config.ptx == 0) return ok();
  if (!options.gym.url.empty())
    return fail(
        "--set ptx={}: a gym elsewhere judges no PTX; leave --gym out, on a machine with a GPU",
        config.ptx);
  if (options.out.empty())
    return fail("--set ptx={}: edited PTX is written beside the kernel; name its file with --out",
                config.ptx);
  return ok();
}

// Writes the PTX of the fastest edit beside the kernel.
Status write_edits(const search::History& history, const std::filesystem::path& kernel) {
  const auto gain = search::gain_of_edits(history);
  if (!gain) return ok();
  std::string words;
  for (const auto& [name, text] : history.attempt(*search::fastest_ptx(history))->ptx) {
    auto file = kernel;
    file.replace_extension(std::filesystem::path(name).filename().string() + ".ptx");
    TRY(write_file_atomic(file, text));
    words += fmt::format(" --ptx {}={}", name, file.string());
  }
  LOG("with the edited PTX it is {:.2f} times as fast as with Triton's own; to judge it again, add "
      "to `tritonsmith judge`:{}",
      *gain, words);
  return ok();
}

CodelessAnswers codeless_answers(const search::History& history, const std::string& records) {
  CodelessAnswers answers{.count = history.finished().size()};
  for (const int number : history.finished())
    answers.cut_off += history.attempt(number)->finish == FinishReason::length ? 1 : 0;
  if (!history.finished().empty()) answers.first = history.attempt(0)->text;  // the greedy one
  if (!records.empty()) answers.kept = std::filesystem::path(records) / "search.jsonl";
  return answers;
}

// Says what the search did, and returns its best attempt. Without one it says why there is none.
const search::Attempt* report_search(const search::Search& search, const WriteOptions& options) {
  const search::History& history = search.history();
  log_turns(conversations_of(history));
  if (search.why_over().empty())
    LOG("the search was stopped after {:.1f} s{}", search.seconds(),
        options.records.empty() ? "" : "; the same command continues it");
  else
    LOG("the search ended after {:.1f} s: {}{}", search.seconds(), search.why_over(),
        options.records.empty() ? "" : "; a larger budget extends it");
  const bool has_kernels = std::ranges::any_of(
      history.finished(), [&](int number) { return !history.attempt(number)->kernel.empty(); });
  if (search.why_over().empty() && !history.best()) return nullptr;
  if (!has_kernels)
    complain(
        fmt::format("no kernel: {}", without_code(codeless_answers(history, options.records))));
  else if (!history.best())
    complain(fmt::format("no kernel for {}: {}", options.module, search::summary_of(history)));
  if (!history.best()) return nullptr;
  const search::Attempt* best = history.attempt(*history.best());
  LOG("{}; {}", search::summary_of(history), words_for(*best));
  return best;
}

// Writes the kernel to its file or to standard output. If the file cannot be written, the kernel goes
// to standard output, so that no search is lost.
Status save_kernel(const std::string& kernel, const search::History& history,
                   const std::string& out) {
  if (out.empty()) {
    hand_over(kernel);
    return ok();
  }
  if (auto written = write_file_atomic(out, kernel); !written) {
    hand_over(kernel);
    return fail("{}; the kernel went to standard output instead", written.error().message);
  }
  LOG("the kernel is in {}", out);
  return write_edits(history, out);
}

Result<ExitCode> write_kernel(WriteOptions options) {
  TRY(check_patch(options));
  TRY(check_edits(options));
  TRY_ASSIGN(auto made, read_tasks(options.module, options.arguments));
  TRY(check_outputs(options, made.file.empty() ? options.module : made.file));
  train::StopFlag stop = false;
  const train::StopSignals signals(stop);
  if (!options.patch.empty() && !modules::names_a_module(options.module)) {
    TRY_ASSIGN(made, modules::module_of_file(std::move(made.tasks.front())));
    made.file = options.module;
  }
  std::vector<Task>& tasks = made.tasks;
  if (!options.instruction.empty()) tasks.front().instruction = options.instruction;
  TRY(find_model(options.model));
  TRY_ASSIGN(const text::PromptRecord asked,
             prompt_record_of(options.prompt_options, options.model.directory));
  TRY_ASSIGN(auto opened,
             open_writer(options.model, asked.prompt,
                         options.records.empty()
                             ? std::filesystem::path()
                             : std::filesystem::path(options.records) / "requests.sqlite"));
  options.sampling.max_new_tokens = new_tokens(asked, opened->positions(), options.model.name);
  Writing writing;
  TRY(open_search(*opened, tasks, options, writing));
  TRY(check_tasks(tasks, options, writing, stop));
  const Status ran = run_search(opened->prompted_writer().writer, writing, stop);
  if (!ran && !writing.search->history().best()) return tl::unexpected(ran.error());
  if (!ran) complain(ran.error().message);  // the kernels that were found are not lost
  TRY(opened->account(options.records));
  const bool was_stopped = writing.search->why_over().empty();
  const search::Attempt* found = report_search(*writing.search, options);
  if (found == nullptr) {
    if (const auto failed = search::failed_task(writing.search->history()))
      return fail("{}", *failed);
    return was_stopped ? ExitCode::fault : ExitCode::not_accepted;
  }
  const search::Attempt& best = *found;
  if (!was_stopped) TRY(review_best(writing, best));
  log_each_task(tasks, writing.judge->accepted(best.kernel));
  TRY(save_kernel(best.kernel + "\n", writing.search->history(), options.out));
  if (!options.patch.empty()) TRY(write_patch(options.patch, made, best.kernel));
  return was_stopped ? ExitCode::fault : ExitCode::done;
}

void add_write_command(CLI::App& app, Run& run) {
  auto options = std::make_shared<WriteOptions>();
  CLI::App* command = app.add_subcommand("write", "Write the best verified kernel for a module");
  command->add_option("MODULE", options->module, kTaskHelp)->required();
  add_module_options(*command, options->arguments);
  command->add_option(
      "--instruction", options->instruction,
      "What the module does, in words, for models trained on such prompts (default: "
      "the module's first line, where that is \"# instruction: TEXT\")");
  add_model_options(*command, options->model);
  command->add_option("--out", options->out, "Write the kernel here instead of stdout");
  command->add_option("--patch", options->patch,
                      "Write a module here that takes the place of your class or function, or of "
                      "the Model of a file, and a test beside it");
  const CLI::Option* strategy =
      add_choice(*command, "--strategy", options->strategy,
                 "How the next attempts follow from the earlier ones. With --turns the default is "
                 "sequential, because only its conversations have turns");
  command
      ->add_option(
          "--samples", options->samples,
          "How many attempts are made, or conversations of --turns. The first one is greedy")
      ->default_str(fmt::format("{} attempts", kAttempts))
      ->check(CLI::Range(1, 100000));
  add_turns_options(*command, options->turns);
  add_verifier_options(*command, options->verifier);
  add_search_settings(*command, options->settings);
  command->add_option(
      "--records", options->records,
      "Keep the search in this folder. The same command continues it after an interruption, and a "
      "larger budget extends it");
  add_sampling_options(*command, options->sampling);
  add_prompt_options(*command, options->prompt_options);
  command->add_option("--trials", options->trials, "On how many inputs each kernel is tried")
      ->check(CLI::Range(1, 1000));
  command->add_option("--seed", options->seed, "Every random choice follows from this number");
  add_gym_options(*command, options->gym);
  add_choice(*command, "--policy", options->policy, kPolicyHelp);
  add_choice(*command, "--backend", options->backend, kBackendHelp);
  add_example(*command,
              "write relu.py --model runs/rl-small/checkpoints/step-120 --out relu_triton.py");
  add_example(
      *command,
      "write block.py --model openai:NAME --strategy evolution --samples 64 --records runs/block");
  command->callback([&run, options, strategy] {
    // Only conversations have turns, so who asks for turns wants conversations.
    if (options->turns.limit > 1 && strategy->count() == 0)
      options->strategy = search::Strategy::sequential;
    if (options->samples == 0) options->samples = std::max(1, kAttempts / options->turns.limit);
    run = [options] { return finish(write_kernel(*options)); };
  });
}

const Command write_command(CommandGroup::model, "write", add_write_command);

}  // namespace
}  // namespace tritonsmith::cli
