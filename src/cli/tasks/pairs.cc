#include "cli/tasks/pairs.h"

#include <algorithm>

#include "base/log.h"
#include "cli/call/help.h"
#include "cli/call/output.h"
#include "cli/dataset_options.h"
#include "cli/judge_text.h"
#include "cli/setup/hub_names.h"
#include "cli/setup/judges.h"
#include "cli/tasks/given_pairs.h"
#include "curriculum/suite.h"
#include "pairs/pair_run.h"

namespace tritonsmith::cli {
namespace {

struct PairsOptions {
  DatasetOptions from;
  std::string out;
  GymChoice gym;
  Policy policy = Policy::fused;
  Backend backend = Backend::automatic;
  int trials = 3;
  int slots = std::max(2, usable_cores());
  int seconds = 60;
  bool given = false, plain = false, unjudged = false;
};

// Keeps the tasks of a data set in memory.
class Collector : public datasets::RowWriter {
 public:
  Status write(const Json& row) override {
    TRY_ASSIGN(Task task, task_from_json(row));
    tasks.push_back(std::move(task));
    return ok();
  }
  Status finish() override { return ok(); }
  std::vector<Task> tasks;
};

struct Modules {
  std::vector<Task> tasks;
  pairs::ModuleOrigin origin = pairs::ModuleOrigin::foreign;
};

// A suite by its name, a folder of files, or the rows of a data set.
Result<Modules> modules_of(const PairsOptions& options) {
  std::error_code error;
  const bool is_rows =
      datasets::is_row_file(options.from.path) ||
      (std::filesystem::is_directory(options.from.path, error) &&
       datasets::find_dataset({.path = options.from.path, .split = options.from.split}));
  if (is_rows) {
    Collector collector;
    TRY_ASSIGN(const auto counts, datasets::import_tasks(import_options(options.from), collector));
    show_counts(counts, "tasks", options.from.path);
    return Modules{.tasks = std::move(collector.tasks)};
  }
  TRY_ASSIGN(auto tasks, curriculum::load_suite(options.from.path));
  if (options.from.limit > 0 && tasks.size() > options.from.limit) tasks.resize(options.from.limit);
  return Modules{.tasks = std::move(tasks),
                 .origin = curriculum::is_zoo(options.from.path) ? pairs::ModuleOrigin::own
                                                                 : pairs::ModuleOrigin::foreign};
}

// Shows how many given solutions were rewritten, and why the others stayed as they are.
void show_plain(const pairs::PairCounts& counts) {
  std::size_t kept = 0;
  for (const auto& [reason, count] : counts.kept) kept += reason == "not_accepted" ? 0 : count;
  show("{} solutions rewritten as plain Triton, {} of them accepted; {} judged as they were\n",
       counts.plain, counts.plain_accepted, kept);
  for (const auto& [reason, count] : counts.kept)
    show("  {:>6}  kept as given: {}\n", count, reason);
}

void show_result(const pairs::PairCounts& counts, std::size_t tasks, const PairsOptions& options,
                 double seconds) {
  const std::size_t now = counts.accepted + counts.rejected + counts.failed + counts.written;
  if (options.unjudged)
    show("{} tasks: {} solutions written, {} without one, {} done before: {}/written.jsonl\n",
         tasks, counts.written, counts.failed, counts.before, options.out);
  else
    show("{} tasks: {} pairs accepted, {} rejected, {} without a pair, {} done before: {}\n", tasks,
         counts.accepted, counts.rejected, counts.failed, counts.before, options.out);
  for (const auto& [reason, count] : counts.reasons) show("  {:>6}  {}\n", count, reason);
  if (options.plain) show_plain(counts);
  if (now > 0)
    show("{:.1f} s, {:.1f} tasks a second\n", seconds,
         static_cast<double>(now) / std::max(seconds, 1e-3));
}

// Has the solutions judged that `write` delivers, or keeps them unjudged.
Status judge_pairs(const std::vector<Task>& tasks, const PairsOptions& options,
                   const pairs::WritePair& write) {
  std::unique_ptr<gym::api::Judge> judge;
  if (!options.unjudged) {
    TRY_ASSIGN(judge, open_judge(options.out, options.gym));
  }
  const Stopwatch watch;
  Progress progress(options.unjudged ? "writing solutions" : "making pairs", tasks.size());
  const pairs::PairOptions how{.directory = options.out,
                               .policy = options.policy,
                               .backend = options.backend,
                               .trials = options.trials,
                               .in_flight = static_cast<std::size_t>(8 * options.slots)};
  const auto tell = [&](const pairs::PairCounts& counts) {
    progress.advance_to(
        counts.before + counts.accepted + counts.rejected + counts.failed + counts.written,
        options.unjudged ? "" : fmt::format("{} accepted", counts.accepted));
  };
  TRY_ASSIGN(const auto counts, pairs::make_pairs(tasks, how, write, judge.get(), tell));
  show_result(counts, tasks.size(), options, watch.seconds());
  return ok();
}

Result<gym::capture::CaptureConfig> guests_of(const PairsOptions& options) {
  gym::capture::CaptureConfig guests;
  guests.slots = options.slots;
  guests.capture_seconds = options.seconds;
  TRY_ASSIGN(guests.data, data_folders(options.gym.data));
  return guests;
}

// As judge_given, after Inductor's code has been rewritten.
Status judge_plain(const GivenPairs& given, const PairsOptions& options) {
  TRY_ASSIGN(auto guests, guests_of(options));
  TRY_ASSIGN(const auto writer, pairs::PairWriter::start_rewriter(std::move(guests)));
  return judge_pairs(given.tasks(), options,
                     [&](const std::string& source, pairs::PairWriter::Done done) {
                       writer->rewrite(given.kernel_of(source), std::move(done));
                     });
}

// Judges the solutions that a data set holds.
Status judge_given(const PairsOptions& options) {
  std::error_code error;
  if (!std::filesystem::exists(options.from.path, error))
    return fail("{} is no file or folder; --given takes a data set that holds solutions",
                options.from.path);
  datasets::ImportOptions how = import_options(options.from);
  how.examples.prompt.kind = text::PromptKind::conversion;
  GivenPairs given;
  TRY_ASSIGN(const auto counts, datasets::import_examples(how, given));
  show_counts(counts, "rows with an answer", options.from.path);
  if (given.incomplete() > 0)
    show("{} of them name no module or no solution\n", given.incomplete());
  if (options.plain) return judge_plain(given, options);
  return judge_pairs(given.tasks(), options,
                     [&](const std::string& source, const pairs::PairWriter::Done& done) {
                       done({.kernel = given.kernel_of(source), .reason = {}, .message = {}});
                     });
}

Status make_pairs(PairsOptions options) {
  TRY(find_dataset(options.from));
  if (options.given) return judge_given(options);
  TRY_ASSIGN(const Modules modules, modules_of(options));
  TRY_ASSIGN(auto guests, guests_of(options));
  TRY_ASSIGN(const auto writer,
             pairs::PairWriter::start(std::move(guests), options.policy, modules.origin));
  return judge_pairs(modules.tasks, options, [&](std::string source, pairs::PairWriter::Done done) {
    writer->write(std::move(source), std::move(done));
  });
}

}  // namespace

void add_pairs_command(CLI::App& tasks, Run& run) {
  auto options = std::make_shared<PairsOptions>();
  CLI::App* command = tasks.add_subcommand(
      "pairs",
      "Make Triton solutions of PyTorch modules by Inductor, and keep those that are accepted");
  command
      ->add_option(
          "SUITE", options->from.path,
          "The modules: zoo, curriculum, a folder of .py files, or a data set (.parquet, .jsonl, "
          ".json, a folder in the Hugging Face hub's layout, OWNER/NAME on the hub)")
      ->required();
  command
      ->add_option("--out", options->out,
                   "The folder for pairs.jsonl. A later call continues where this one stopped")
      ->required();
  add_dataset_options(*command, options->from);
  CLI::Option* given = command->add_flag(
      "--given", options->given, "Judge the solutions that the data set holds, and write none");
  command
      ->add_flag("--plain", options->plain,
                 "Rewrite solutions that use the runtime of torch.compile's Inductor as plain "
                 "Triton before they are judged, as those of KernelBook")
      ->needs(given);
  command
      ->add_flag(
          "--unjudged", options->unjudged,
          "Write solutions to written.jsonl and judge none. A later call with --given judges "
          "that file, for example on another machine")
      ->excludes(given);
  add_choice(*command, "--policy", options->policy,
             "What PyTorch may still compute: with fused, matrix products and convolutions");
  add_choice(*command, "--backend", options->backend, kBackendHelp);
  command->add_option("--trials", options->trials, "How many trials each judgement has")
      ->check(CLI::Range(1, 100))
      ->capture_default_str();
  command
      ->add_option("--seconds", options->seconds,
                   "How long the guest that writes a module's solution may take")
      ->check(CLI::Range(1, 3600))
      ->capture_default_str();
  command->add_option("--slots", options->slots, "How many modules are worked on at a time")
      ->check(CLI::Range(1, 256))
      ->capture_default_str();
  command
      ->add_option("--judge-seconds", options->gym.referee_seconds,
                   "How long all trials of one solution may take. Large modules need more")
      ->check(CLI::Range(1, 3600))
      ->capture_default_str();
  add_gym_options(*command, options->gym);
  add_example(*command, "tasks pairs zoo:count=2000 --out data/pairs");
  add_example(*command,
              "tasks pairs KernelBook/dataset_permissive.parquet --keep-going --out pairs");
  add_example(*command, "tasks pairs KernelBench/level1 --unjudged --out written");
  add_example(*command,
              "tasks pairs GPUMODE/KernelBook --given --plain --keep-going --out kernelbook");
  command->callback([&run, options] { run = [options] { return finish(make_pairs(*options)); }; });
}

}  // namespace tritonsmith::cli
