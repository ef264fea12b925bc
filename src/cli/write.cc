// `tritonsmith write MODULE.py`: prints the model's best verified kernel for a module. The kernel
// goes to stdout or a file, and the summary of all attempts to stderr. Without a verified kernel
// the exit code is 1.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>

#include "base/file.h"
#include "base/log.h"
#include "base/rng.h"
#include "base/temp_dir.h"
#include "cli/call/command.h"
#include "cli/call/help.h"
#include "cli/call/output.h"
#include "cli/judge_text.h"
#include "cli/setup/asking.h"
#include "cli/setup/judges.h"
#include "cli/setup/module_options.h"
#include "cli/setup/remote_author.h"
#include "cli/setup/turns_options.h"
#include "episode/episodes.h"
#include "eval/metrics.h"
#include "eval/reached.h"
#include "gym/api/every_task_judge.h"
#include "modules/patch.h"

namespace tritonsmith::cli {
namespace {

struct WriteOptions {
  GymChoice gym;
  std::string module, instruction, out, patch;
  ModuleOptions arguments;
  ModelChoice model;
  int samples = 16;
  int trials = 5;
  std::uint64_t seed = 1;
  generate::SamplingParams sampling{.temperature = 0.8};
  Policy policy = Policy::strict;
  Backend backend = Backend::automatic;
  Asking asking;
  episode::TurnsConfig turns;
};

struct Attempt {
  int turn = 0;
  std::string kernel;
  Verdict verdict;
};

struct Tried {
  std::vector<Attempt> attempts;
  std::map<std::string, std::vector<Verdict>> accepted;  // by kernel: the verdict for each task
  std::string greedy_text;  // the first turn of the greedy conversation
  std::vector<eval::Conversation> conversations;
};

// Prefers the faster kernel. Kernels without timings come last, the shorter ones first.
bool is_better(const Attempt& a, const Attempt& b) {
  if (a.verdict.speedup != b.verdict.speedup) return a.verdict.speedup > b.verdict.speedup;
  return a.kernel.size() < b.kernel.size();
}

// Adds a turn to its conversation. Turns arrive in order, each after the verdict on the one before.
void remember(const episode::PlayedTurn& turn, std::vector<eval::Conversation>& conversations) {
  eval::Conversation& conversation = conversations.at(turn.episode);
  conversation.verdicts.push_back(turn.verdict);
  conversation.tokens.push_back(static_cast<int>(turn.completion.usage.completion_tokens));
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
    const eval::Reached reached = eval::reached_after(static_cast<int>(i) + 1, conversations);
    LOG("turn {}: {} completions, {} verified, {} tokens, {:.1f} s of judging; of {} conversations "
        "{} are verified at their last turn{}, {} at their best{}",
        i + 1, completions, verified, tokens, judge_seconds, conversations.size(), reached.last,
        fastest_of(reached.last_speedup), reached.best, fastest_of(reached.best_speedup));
  }
}

// Runs one greedy conversation and samples - 1 sampled ones of up to --turns turns. Returns every
// kernel that was judged.
Result<Tried> write_kernels(const eval::Author& author, const std::vector<Task>& tasks,
                            const WriteOptions& options) {
  const Task& task = tasks.front();
  // The judge's store answers if several conversations write the same kernel.
  TRY_ASSIGN(const TempDir store, TempDir::make("write"));
  TRY_ASSIGN(auto judge_of_one, open_judge(store.path(), options.gym));
  gym::api::EveryTaskJudge judge(*judge_of_one, tasks);
  gym::api::FaultStreak faults(std::min(gym::api::kFaultsInARow, options.samples));
  episode::Episodes episodes(
      {.turns = options.turns,
       .policy = options.policy,
       .backend = options.backend,
       .trials = options.trials,
       .feedback = author.feedback},
      {.writer = author.writer,
       .judge = judge,
       .faults = faults,
       .score = [](const Kernel&, const Verdict& verdict) { return eval::worth_of(verdict); }});
  for (int i = 0; i < options.samples; ++i) {
    const auto id = static_cast<std::uint64_t>(i);
    episode::EpisodeRequest request{.id = id,
                                    .task = &task,
                                    .messages = author.prompt(task),
                                    .sampling = options.sampling,
                                    .seed = Rng(options.seed, "write", id).next_u64()};
    if (i == 0) request.sampling.temperature = 0;
    TRY(episodes.begin(std::move(request)));
  }
  Tried tried;
  tried.conversations.resize(static_cast<std::size_t>(options.samples));
  Progress progress("writing and judging", static_cast<std::size_t>(options.samples));
  for (std::size_t done = 0;;) {
    TRY_ASSIGN(auto turn, episodes.next());
    if (!turn) return tried;
    if (turn->episode == 0 && turn->turn == 0) tried.greedy_text = turn->completion.text;
    if (turn->is_last) progress.advance_to(++done);
    remember(*turn, tried.conversations);
    if (turn->verdict.accepted)
      tried.accepted[turn->kernel.source] = judge.accepted(turn->kernel.source);
    if (!turn->kernel.source.empty())
      tried.attempts.push_back(
          {turn->turn, std::move(turn->kernel.source), std::move(turn->verdict)});
  }
}

// Returns "3 of 7 kernels verified; the others: wrong_value 2, compile_error 2".
std::string summary_of(const std::vector<Attempt>& attempts, std::size_t verified) {
  std::map<std::string, int> reasons;
  for (const Attempt& attempt : attempts) {
    const Verdict& verdict = attempt.verdict;
    if (verdict.accepted) continue;
    std::string reason = verdict.error ? class_name(*verdict.error) : "refused";
    for (const Finding& finding : verdict.findings)
      if (!verdict.error && finding.severity == Severity::reject) reason = finding.rule;
    ++reasons[reason];
  }
  std::string text = fmt::format("{} of {} kernels verified", verified, attempts.size());
  for (const auto& [reason, count] : reasons)
    text += fmt::format("{} {} {}", &reason == &reasons.begin()->first ? "; the others:" : ",",
                        reason, count);
  return text;
}

// Logs "Block with randn(8, 64): speed-up 1.31, 0.0120 ms" for each task, if there are several.
void log_each_task(const std::vector<Task>& tasks, const std::vector<Verdict>& verdicts) {
  for (std::size_t i = 0; tasks.size() > 1 && i < tasks.size(); ++i) {
    const Verdict& verdict = verdicts[i];
    LOG("{}: {}", tasks[i].id,
        verdict.speedup && verdict.time_ms
            ? fmt::format("speed-up {:.2f}, {:.4f} ms", *verdict.speedup, verdict.time_ms->median)
            : "verified");
  }
}

Status check_patch(const WriteOptions& options) {
  if (options.patch.empty()) return ok();
  if (!modules::names_a_module(options.module))
    return fail("--patch replaces a class or function of your code: name it as {}:NAME",
                options.module);
  if (!options.patch.ends_with(".py")) return fail("--patch {}: must end in .py", options.patch);
  if (!modules::is_python_name(std::filesystem::path(options.patch).stem().string()))
    return fail(
        "--patch {}: Python cannot import a module of this name; take one of letters, digits "
        "and _, as in block_triton.py",
        options.patch);
  return ok();
}

// Writes the module that takes the place of the user's own, and the test beside it.
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

ExitCode without_kernel(std::string_view why) {
  complain(why);
  return ExitCode::not_accepted;
}

Result<ExitCode> write_kernel(WriteOptions options) {
  TRY(check_patch(options));
  TRY_ASSIGN(auto made, read_tasks(options.module, options.arguments));
  std::vector<Task>& tasks = made.tasks;
  if (!options.instruction.empty()) tasks.front().instruction = options.instruction;
  TRY(find_model(options.model));
  TRY_ASSIGN(const text::PromptRecord asked, asked_as(options.asking, options.model.directory));
  TRY_ASSIGN(auto author, open_author(options.model, asked.prompt, {}));
  options.sampling.max_new_tokens = new_tokens(asked, author->positions(), options.model.name);
  TRY_ASSIGN(Tried tried, write_kernels(author->author(), tasks, options));
  TRY(author->account({}));
  log_turns(tried.conversations);
  std::vector<Attempt>& attempts = tried.attempts;
  if (attempts.empty())
    return without_kernel(
        fmt::format("no kernel: {}",
                    without_code(static_cast<std::size_t>(options.samples), tried.greedy_text)));
  const auto end =
      std::ranges::partition(attempts, [](const Attempt& a) { return a.verdict.accepted; }).begin();
  const auto verified = static_cast<std::size_t>(end - attempts.begin());
  const std::string summary = summary_of(attempts, verified);
  if (verified == 0)
    return without_kernel(fmt::format("no kernel for {}: {}", options.module, summary));
  std::sort(attempts.begin(), end, is_better);
  const Attempt& best = attempts.front();
  LOG("{}; the best is of turn {}{}", summary, best.turn + 1,
      best.verdict.speedup ? fmt::format(", speed-up {:.2f}", *best.verdict.speedup) : "");
  log_each_task(tasks, tried.accepted.at(best.kernel));
  if (!options.patch.empty()) TRY(write_patch(options.patch, made, best.kernel));
  if (options.out.empty()) {
    hand_over(best.kernel + "\n");
    return ExitCode::done;
  }
  TRY(write_file_atomic(options.out, best.kernel + "\n"));
  return ExitCode::done;
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
                      "Of a class or function of your code: write a module here that takes its "
                      "place, and a test beside it");
  command
      ->add_option("--samples", options->samples,
                   "How many conversations are tried. The first one is greedy")
      ->check(CLI::Range(1, 100000));
  add_turns_options(*command, options->turns);
  add_sampling_options(*command, options->sampling);
  add_asking_options(*command, options->asking);
  command->add_option("--trials", options->trials, "On how many inputs each kernel is tried")
      ->check(CLI::Range(1, 1000));
  command->add_option("--seed", options->seed, "Every random choice follows from this number");
  add_gym_options(*command, options->gym);
  add_choice(*command, "--policy", options->policy, kPolicyHelp);
  add_choice(*command, "--backend", options->backend, kBackendHelp);
  add_example(*command,
              "write relu.py --model runs/rl-small/checkpoints/step-120 --out relu_triton.py");
  command->callback(
      [&run, options] { run = [options] { return finish(write_kernel(*options)); }; });
}

const Command write_command(CommandGroup::model, "write", add_write_command);

}  // namespace
}  // namespace tritonsmith::cli
