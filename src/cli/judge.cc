// `tritonsmith judge`: judges one or more candidates for one task on this machine. It prints one
// verdict in full, or a table of several. With --json, stdout holds one line for each verdict and
// nothing else. The exit code is 0 if every kernel is accepted or, with --json, if every kernel has
// a verdict.
//
// `tritonsmith gym-referee` (hidden) is the process that runs plans for it.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <memory>
#include <set>

#include "base/cache_directory.h"
#include "base/file.h"
#include "base/log.h"
#include "cli/call/command.h"
#include "cli/call/help.h"
#include "cli/call/output.h"
#include "cli/judge_text.h"
#include "cli/setup/judges.h"
#include "cli/setup/module_options.h"
#include "cli/setup/shared_gpu.h"
#include "cli/setup/verifier_options.h"
#include "gym/api/judge_all.h"
#include "gym/compile/targets.h"
#include "gym/judge/local_judge.h"
#include "gym/referee/serve.h"
#include "modules/module_task.h"
#include "text/feedback.h"

namespace tritonsmith::cli {
namespace {

struct JudgeOptions {
  std::string task;
  ModuleOptions module;
  std::vector<std::string> kernel_files;
  std::vector<std::string> data;
  Backend backend = Backend::automatic;
  Policy policy = Policy::strict;
  Comparison comparison = Comparison::budget;
  Strides strides = Strides::any;
  std::string directory;
  std::string target;
  std::vector<std::string> ptx;  // KERNEL_NAME=FILE
  std::string show_ptx;          // a folder
  VerifierChoice verifier;
  int trials = 3;
  bool json = false, feedback = false, no_store = false, adequacy = false;
};

constexpr int kAdequacySecrets = 3;

// The members of each vector belong to the same jobs.
struct Judgement {
  std::vector<gym::api::JudgeJob> jobs;
  std::vector<std::string> files;  // of the kernels
  std::vector<std::string> names;  // the files, with the task's id if there are several tasks
  std::vector<Verdict> verdicts;
};

// Reads the files of --ptx.
Result<std::map<std::string, std::string>> read_edited(const JudgeOptions& options) {
  std::map<std::string, std::string> edited;
  if (options.ptx.empty()) return edited;
  if (options.kernel_files.size() > 1)
    return fail("--ptx changes the kernels of one candidate: give --kernel once");
  for (const std::string& each : options.ptx) {
    const std::size_t equals = each.find('=');
    if (equals == 0 || equals == std::string::npos || equals + 1 == each.size())
      return fail("--ptx {}: give it as KERNEL_NAME=FILE; --show-ptx DIR writes such files", each);
    TRY_ASSIGN(std::string text, read_file(each.substr(equals + 1)));
    if (!edited.emplace(each.substr(0, equals), std::move(text)).second)
      return fail("--ptx gives the kernel {} twice", each.substr(0, equals));
  }
  return edited;
}

// Makes a job for each kernel and each task.
Result<Judgement> read_jobs(const JudgeOptions& options) {
  gym::api::JudgeJob job{.policy = options.policy,
                         .comparison = options.comparison,
                         .strides = options.strides,
                         .backend = options.backend,
                         .trials = options.trials,
                         .use_store = !options.no_store,
                         .shows_ptx = !options.show_ptx.empty()};
  TRY_ASSIGN(job.ptx, read_edited(options));
  TRY_ASSIGN(const auto made, read_tasks(options.task, options.module));
  const std::vector<Task>& tasks = made.tasks;
  Judgement judgement;
  for (const std::string& file : options.kernel_files) {
    TRY_ASSIGN(job.kernel, read_file(file));
    for (const Task& task : tasks) {
      job.task = task;
      judgement.jobs.push_back(job);
      judgement.files.push_back(file);
      judgement.names.push_back(tasks.size() > 1 ? fmt::format("{}: {}", file, task.id) : file);
    }
  }
  return judgement;
}

// Returns the folder for verdicts and the secret between calls. The default is the user's cache.
std::string judge_directory(const JudgeOptions& options) {
  if (!options.directory.empty()) return options.directory;
  if (options.no_store) return {};
  return cache_directory("judge");
}

// Writes the compiler's own PTX of all kernels to a folder, one file for each.
Status write_ptx(const std::vector<Verdict>& verdicts, const std::filesystem::path& folder) {
  TRY(make_directories(folder));
  std::set<std::filesystem::path> files;
  for (const Verdict& verdict : verdicts)
    for (const KernelReport& kernel : verdict.kernels) {
      if (kernel.ptx.empty()) continue;
      // The candidate chose the name, which must not lead out of the folder.
      const auto name = std::filesystem::path(kernel.ptx_name).filename().string();
      const auto file = folder / (name + ".ptx");
      TRY(write_file_atomic(file, kernel.ptx));
      files.insert(file);
    }
  if (files.empty()) LOG("no kernel was compiled, so there is no PTX");
  for (const auto& file : files) LOG("{}: the PTX that the judge launches", file.string());
  return ok();
}

// Opens the verifier, or nothing without one.
Result<std::unique_ptr<OpenedVerifier>> open_verifier(const JudgeOptions& options) {
  const VerifierChoice& choice = options.verifier;
  if (!choice.model.empty())
    return OpenedVerifier::open(choice, options.no_store ? "" : cache_directory("verifier"));
  TRY(check_no_verifier_settings(choice));
  return std::unique_ptr<OpenedVerifier>();
}

// Asks the verifier about the kernels, and puts its findings into the verdicts.
Status add_opinions(verifier::Verifier& verifier, Judgement& judgement) {
  std::vector<std::size_t> asked;
  std::vector<verifier::Subject> subjects;
  for (std::size_t i = 0; i < judgement.verdicts.size(); ++i) {
    const gym::api::JudgeJob& job = judgement.jobs[i];
    if (!verifier::is_asked_about(judgement.verdicts[i], verifier.config().kernels)) continue;
    asked.push_back(i);
    subjects.push_back({.task = &job.task, .kernel = job.kernel, .policy = job.policy});
  }
  TRY_ASSIGN(const auto opinions, verifier::review_all(verifier, std::move(subjects)));
  for (std::size_t i = 0; i < asked.size(); ++i)
    verifier::add_opinion(opinions[i], judgement.verdicts[asked[i]]);
  LOG("the verifier: {}", verifier.work().to_text());
  return ok();
}

Result<Judgement> judge_on_this_machine(const JudgeOptions& options) {
  TRY(gym::compile::check_target(options.target));
  TRY_ASSIGN(Judgement judgement, read_jobs(options));
  gym::judge::LocalJudgeConfig config;
  config.capture.slots = std::min(config.capture.slots, static_cast<int>(judgement.jobs.size()));
  config.directory = judge_directory(options);
  config.target = options.target;
  if (options.adequacy) config.adequacy_secrets = kAdequacySecrets;
  TRY_ASSIGN(config.capture.data, data_folders(options.data));
  if (!config.directory.empty()) TRY(make_directories(config.directory));
  TRY_ASSIGN(const auto verifier, open_verifier(options));
  TRY_ASSIGN(const auto judge, start_judge(config));
  TRY_ASSIGN(judgement.verdicts, gym::api::judge_all(*judge, judgement.jobs));
  if (!options.show_ptx.empty()) TRY(write_ptx(judgement.verdicts, options.show_ptx));
  if (verifier) TRY(add_opinions(verifier->verifier(), judgement));
  return judgement;
}

bool is_task_failure(const Verdict& verdict) {
  return verdict.error && verdict.error->error_class == ErrorClass::task_failed;
}

// Says whether --ptx names a kernel that the plan does not have: a mistake of the command line.
bool names_no_kernel(const Verdict& verdict, const JudgeOptions& options) {
  return !options.ptx.empty() && verdict.error &&
         verdict.error->error_class == ErrorClass::bad_request;
}

// Returns what a user of their own class does about a task's failure, or nothing.
std::string_view hint_at_module(const std::string& message, const JudgeOptions& options) {
  if (!modules::names_a_module(options.task)) return "";
  if (message.find("same dtype") != std::string::npos && options.module.dtype.empty())
    return "; --dtype converts the module's weights";
  return "; its lines are those that `tritonsmith tasks from-module` prints";
}

// Returns the exit code for one verdict. If the verdict says nothing about the kernel, this prints
// why.
ExitCode ending_of(const Verdict& verdict, const std::string& name, const JudgeOptions& options) {
  if (verdict.fault == Fault::infrastructure)
    return finish(
        fail_by_fault("{}: {}", name, verdict.error ? verdict.error->message : "no reason given"));
  if (is_task_failure(verdict))
    return finish(fail("{}: the task itself cannot be judged: {}{}", options.task,
                       verdict.error->message, hint_at_module(verdict.error->message, options)));
  if (names_no_kernel(verdict, options))
    return finish(fail("{}: --ptx: {}", name, verdict.error->message));
  if (!options.ptx.empty() && verdict.compiled && verdict.backend == Backend::evaluate)
    return finish(fail_by_fault(
        "{}: the edited PTX assembles, and was not judged: that needs a GPU, because the evaluator "
        "of the CPU runs Triton IR",
        name));
  if (verdict.accepted || options.json) return ExitCode::done;
  // The kernel may be right, but this judge cannot tell.
  const bool says_nothing = verdict.fault == Fault::none && !verdict.correct;
  return says_nothing ? ExitCode::fault : ExitCode::not_accepted;
}

void print_json(const Verdict& verdict, const std::string& kernel_file) {
  Json json = to_json(verdict);
  json["file"] = kernel_file;
  show("{}\n", to_line(json));
}

void print(const Judgement& judgement, const JudgeOptions& options) {
  const std::vector<Verdict>& verdicts = judgement.verdicts;
  const auto is_verdict = [&](const Verdict& each) {
    return each.fault != Fault::infrastructure && !is_task_failure(each) &&
           !names_no_kernel(each, options);
  };
  const std::string_view untimed = visible_gpus() == 0 ? "this machine has no GPU"
                                   : options.target.empty()
                                       ? "the kernel was evaluated on the CPU"
                                       : "this machine has no GPU of the target";
  if (!options.json && std::ranges::any_of(verdicts, is_task_failure)) return;
  if (!options.json && !options.feedback && verdicts.size() > 1) {
    show_text(verdict_table(verdicts, judgement.names, untimed));
    return;
  }
  for (std::size_t i = 0; i < verdicts.size(); ++i) {
    if (verdicts[i].fault == Fault::infrastructure) continue;
    if (options.json) {
      print_json(verdicts[i], judgement.files[i]);
    } else if (is_verdict(verdicts[i])) {
      if (verdicts.size() > 1) show("{}\n", judgement.names[i]);
      show_text(options.feedback ? text::feedback_text(verdicts[i], text::PromptStyle::full)
                                 : judge_text(verdicts[i], untimed, judgement.files[i]));
    }
  }
}

ExitCode judge(const JudgeOptions& options) {
  const auto judgement = judge_on_this_machine(options);
  if (!judgement) return finish(tl::unexpected(judgement.error()));
  print(*judgement, options);
  ExitCode code = ExitCode::done;
  for (std::size_t i = 0; i < judgement->verdicts.size(); ++i) {
    const Verdict& verdict = judgement->verdicts[i];
    code = std::max(code, ending_of(verdict, judgement->names[i], options));
    if (is_task_failure(verdict)) break;  // the other verdicts say the same
  }
  return code;
}

void add_judge_command(CLI::App& app, Run& run) {
  CLI::App* command = app.add_subcommand("judge", "Judge a candidate kernel against a task");
  const auto options = std::make_shared<JudgeOptions>();
  command->add_option("--task", options->task, kTaskHelp)->required();
  add_module_options(*command, options->module);
  command
      ->add_option(
          "--kernel", options->kernel_files,
          "The candidate: a file that defines ModelNew. Several files are judged side by side")
      ->required();
  add_choice(*command, "--backend", options->backend, kBackendHelp);
  add_choice(*command, "--policy", options->policy, kPolicyHelp);
  add_choice(*command, "--comparison", options->comparison, kComparisonHelp);
  add_choice(*command, "--strides", options->strides, kStridesHelp);
  command->add_option("--trials", options->trials, "How many trials with fresh values are run")
      ->check(CLI::Range(1, 1000));
  command->add_option(
      "--target", options->target,
      fmt::format("The chip to judge for: {}. On another chip kernels are compiled and evaluated, "
                  "not timed (default: the GPU of this machine, else {})",
                  fmt::join(gym::compile::kTargets, ", "), gym::compile::kDefaultTarget));
  command
      ->add_option("--ptx", options->ptx,
                   "KERNEL_NAME=FILE: launch this PTX in the place of a kernel's own. Repeatable")
      ->allow_extra_args(false);
  command->add_option("--show-ptx", options->show_ptx,
                      "Write the PTX of each kernel to this folder, as KERNEL_NAME.ptx");
  add_data_option(*command, options->data);
  command->add_option("--store", options->directory,
                      "The folder of the verdict store (default: in the user's cache)");
  command->add_flag("--no-store", options->no_store,
                    "Judge again even if the same kernel was judged before, and store nothing");
  command->add_flag("--adequacy", options->adequacy,
                    "Also say which faults of the task its trials would not refuse");
  add_verifier_options(*command, options->verifier);
  auto* json = command->add_flag("--json", options->json, "Print the verdict as one line of JSON");
  command
      ->add_flag("--feedback", options->feedback,
                 "Print the verdict as the text that a model gets between turns")
      ->excludes(json);
  add_example(*command, "judge --task relu.py --kernel candidate.py");
  add_example(*command,
              "judge --task vit/block.py:Norm --inputs \"randn(8, 768)\" --init 768 --kernel "
              "candidate.py");
  add_example(*command, "judge --task relu.py --kernel tries/*.py --policy fused --json");
  add_example(*command, "judge --task relu.py --kernel candidate.py --verifier openai:NAME");
  add_example(*command, "judge --task relu.py --kernel relu_triton.py --ptx relu=edited.ptx");
  command->callback([options, &run] { run = [options] { return judge(*options); }; });
}

void add_gym_referee_command(CLI::App& app, Run& run) {
  CLI::App* command = app.add_subcommand("gym-referee", "");
  // The judge starts this command and sends jobs on descriptor 3.
  const auto options = std::make_shared<gym::referee::ServeOptions>();
  command->add_option("--gpu", options->gpu, "Run plans on this GPU");
  command->add_option("--lease", options->lease, "The file of this GPU's lease");
  command->add_option("--memory", options->memory_bytes, "The largest budget of a job, in bytes");
  command->callback([options, &run] {
    run = [options] { return ExitCode{gym::referee::serve_referee(3, *options)}; };
  });
}

const Command judge_command(CommandGroup::judge, "judge", add_judge_command);
const Command gym_referee_command(CommandGroup::hidden, "gym-referee", add_gym_referee_command);

}  // namespace
}  // namespace tritonsmith::cli
