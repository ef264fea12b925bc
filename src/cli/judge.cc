// `tritonsmith judge`: candidate kernels, mostly one, against one task, judged on this machine.
// Prints each verdict for people, or with --json as one line on stdout and nothing else there. The
// exit code is 0 whenever verdicts were reached, whatever they say; 1 for faults of ours; 2 where
// the task itself cannot be judged.
//
// `tritonsmith gym-referee` (hidden) is the process that runs plans for it.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>

#include "base/cache_directory.h"
#include "base/file.h"
#include "base/log.h"
#include "cli/commands.h"
#include "cli/judge_text.h"
#include "cli/judges.h"
#include "gym/judge/local_judge.h"
#include "gym/referee/serve.h"
#include "text/feedback.h"

namespace tritonsmith::cli {
namespace {

struct JudgeOptions {
  std::string task_file;
  std::vector<std::string> kernel_files;
  std::string backend = "auto", policy = "strict", comparison = "budget";
  std::string directory;
  int trials = 3;
  bool json = false, feedback = false, no_store = false;
};

// One for each kernel; its id is the kernel's place among them.
Result<std::vector<gym::api::JudgeJob>> read_jobs(const JudgeOptions& options) {
  gym::api::JudgeJob job{.trials = options.trials, .use_store = !options.no_store};
  TRY_ASSIGN(job.task.source, read_file(options.task_file));
  TRY_ASSIGN(job.backend, enum_from_name<Backend>(options.backend));
  TRY_ASSIGN(job.policy, enum_from_name<Policy>(options.policy));
  TRY_ASSIGN(job.comparison, enum_from_name<Comparison>(options.comparison));
  job.task.id = std::filesystem::path(options.task_file).stem().string();
  std::vector<gym::api::JudgeJob> jobs;
  for (const std::string& file : options.kernel_files) {
    TRY_ASSIGN(job.kernel, read_file(file));
    job.id = jobs.size();
    jobs.push_back(job);
  }
  return jobs;
}

// Where verdicts and the secret are kept between calls: the user's cache, unless told otherwise.
std::string judge_directory(const JudgeOptions& options) {
  if (!options.directory.empty()) return options.directory;
  if (options.no_store) return {};
  return cache_directory("judge");
}

// In the order of the kernels.
Result<std::vector<Verdict>> judge_on_this_machine(const JudgeOptions& options) {
  TRY_ASSIGN(std::vector<gym::api::JudgeJob> jobs, read_jobs(options));
  gym::judge::LocalJudgeConfig config;
  config.capture.slots = std::min(config.capture.slots, static_cast<int>(jobs.size()));
  config.directory = judge_directory(options);
  TRY_ASSIGN(const auto judge, start_judge(config));
  std::vector<Verdict> verdicts(jobs.size());
  for (gym::api::JudgeJob& job : jobs) TRY(judge->submit(std::move(job)));
  for (std::size_t i = 0; i < verdicts.size(); ++i) {
    TRY_ASSIGN(auto judged, judge->next(Deadline::never()));
    if (!judged) return fail("the judge gave no verdict");
    verdicts.at(judged->id) = std::move(judged->verdict);
  }
  return verdicts;
}

enum class Ending { verdict = 0, fault = 1, bad_task = 2 };

Ending print_verdict(const Verdict& verdict, const std::string& kernel_file,
                     const JudgeOptions& options) {
  const std::string error_class = verdict.error ? verdict.error->error_class : "";
  if (verdict.fault == Fault::infrastructure) {
    finish(fail("{}: {}", kernel_file, verdict.error->message));
    return Ending::fault;
  }
  if (options.json) {
    fmt::print("{}\n", to_line(to_json(verdict)));
  } else if (error_class != "task_failed") {
    if (options.kernel_files.size() > 1) fmt::print("{}\n", kernel_file);
    fmt::print("{}", options.feedback ? text::feedback_text(verdict, text::PromptStyle::full)
                                      : judge_text(verdict));
  }
  if (error_class != "task_failed") return Ending::verdict;
  finish(fail("{}: {}", options.task_file, verdict.error->message));
  return Ending::bad_task;
}

int judge(const JudgeOptions& options) {
  const auto verdicts = judge_on_this_machine(options);
  if (!verdicts) return finish(tl::unexpected(verdicts.error()));
  Ending ending = Ending::verdict;
  for (std::size_t i = 0; i < verdicts->size() && ending != Ending::bad_task; ++i)
    ending = std::max(ending, print_verdict((*verdicts)[i], options.kernel_files[i], options));
  return static_cast<int>(ending);
}

}  // namespace

void add_judge_command(CLI::App& app, Run& run) {
  CLI::App* command = app.add_subcommand("judge", "Judge a candidate kernel against a task");
  const auto options = std::make_shared<JudgeOptions>();
  command
      ->add_option("--task", options->task_file, "File with Model, get_inputs and get_init_inputs")
      ->required();
  command
      ->add_option("--kernel", options->kernel_files,
                   "The candidate: a file that defines ModelNew; several are judged side by side")
      ->required();
  command->add_option("--backend", options->backend, "auto, evaluate or replay")
      ->check(CLI::IsMember({"auto", "evaluate", "replay"}));
  command->add_option("--policy", options->policy, "What `accepted` demands: strict, fused or open")
      ->check(CLI::IsMember({"strict", "fused", "open"}));
  command
      ->add_option("--comparison", options->comparison,
                   "Of values: budget, or allclose, which is KernelBench's tolerance alone")
      ->check(CLI::IsMember({"budget", "allclose"}));
  command->add_option("--trials", options->trials, "Trials with fresh values")
      ->check(CLI::Range(1, 1000));
  command->add_option("--store", options->directory,
                      "Folder of the verdict store (default: the user's cache)");
  command->add_flag("--no-store", options->no_store, "Judge anew, keep nothing");
  auto* json = command->add_flag("--json", options->json, "Print the verdict as one line of JSON");
  command
      ->add_flag("--feedback", options->feedback,
                 "Print the verdict as a model is told of it between turns")
      ->excludes(json);
  command->callback([options, &run] { run = [options] { return judge(*options); }; });
}

void add_gym_referee_command(CLI::App& app, Run& run) {
  CLI::App* command = app.add_subcommand("gym-referee", "");
  command->group("");  // hidden: started by the judge, with its jobs on descriptor 3
  const auto options = std::make_shared<gym::referee::ServeOptions>();
  command->add_option("--gpu", options->gpu, "Run plans on this GPU");
  command->add_option("--lease", options->lease, "The file of this GPU's lease");
  command->add_option("--memory", options->memory_bytes, "The largest budget of a job, in bytes");
  command->callback(
      [options, &run] { run = [options] { return gym::referee::serve_referee(3, *options); }; });
}

}  // namespace tritonsmith::cli
