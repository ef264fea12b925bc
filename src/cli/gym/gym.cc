// `tritonsmith gym`: serve, work, submit, status, quarantine.
#include <fmt/format.h>

#include "base/file.h"
#include "base/jsonl.h"
#include "base/log.h"
#include "cli/call/command.h"
#include "cli/call/help.h"
#include "cli/call/output.h"
#include "cli/gym/ask_service.h"
#include "cli/gym/quarantine.h"
#include "cli/gym/serve.h"
#include "cli/gym/status.h"
#include "cli/gym/work.h"
#include "cli/judge_text.h"
#include "gym/remote/remote_judge.h"

namespace tritonsmith::cli {
namespace {

struct SubmitOptions {
  gym::remote::RemoteJudgeConfig remote;
  std::string task_file, kernel_file, jobs_file;
  std::string ignored;  // the option that a line of `jobs_file` would override; empty: none
  Policy policy = Policy::strict;
  Comparison comparison = Comparison::budget;
  Strides strides = Strides::any;
  Backend backend = Backend::automatic;
  int trials = 3;
  bool json = false, fresh = false;
  std::string device;
};

Result<std::vector<gym::api::JudgeJob>> read_jobs(const SubmitOptions& options) {
  std::vector<gym::api::JudgeJob> jobs;
  if (options.jobs_file.empty()) {
    gym::api::JudgeJob job{.policy = options.policy,
                           .comparison = options.comparison,
                           .strides = options.strides,
                           .backend = options.backend,
                           .trials = options.trials,
                           .device = options.device,
                           .use_store = !options.fresh};
    TRY_ASSIGN(job.task.source, read_file(options.task_file));
    TRY_ASSIGN(job.kernel, read_file(options.kernel_file));
    job.task.id = std::filesystem::path(options.task_file).stem().string();
    jobs.push_back(std::move(job));
    return jobs;
  }
  TRY_ASSIGN(auto submissions, read_jsonl(options.jobs_file, [](const Json& json) {
               return gym::api::submission_from_json(json);
             }));
  for (gym::api::Submission& submission : submissions) {
    submission.job.id = jobs.size();
    submission.job.use_store = submission.job.use_store && !options.fresh;
    jobs.push_back(std::move(submission.job));
  }
  return jobs;
}

// Prints a verdict with its kernel's file and with the job's id for `gym status`.
void print(const gym::api::Judged& judged, const SubmitOptions& options) {
  const bool is_alone = options.jobs_file.empty();
  if (!options.json) {
    if (!is_alone) show("{}:{} ({})\n", options.jobs_file, judged.id + 1, judged.name);
    show_text(judge_text(judged.verdict, "the service has no GPU"));
  } else if (is_alone) {
    Json json = to_json(judged.verdict);
    json["file"] = options.kernel_file;
    json["id"] = judged.name;
    show("{}\n", to_line(json));
  } else {
    show("{}\n", to_line({{"file", options.jobs_file},
                          {"line", judged.id + 1},
                          {"id", judged.name},
                          {"verdict", to_json(judged.verdict)}}));
  }
}

Status submit(SubmitOptions options) {
  if (options.jobs_file.empty() == (options.task_file.empty() || options.kernel_file.empty()))
    return fail("give --task and --kernel, or --jobs");
  if (!options.jobs_file.empty() && !options.ignored.empty())
    return fail("{} goes with --task and --kernel; each line of --jobs says it for itself",
                options.ignored);
  TRY_ASSIGN(auto jobs, read_jobs(options));
  TRY_ASSIGN(const auto judge, gym::remote::RemoteJudge::open(options.remote));
  Progress progress("judging", jobs.size());
  std::size_t sent = 0, done = 0, faults = 0;
  while (done < jobs.size()) {
    for (; sent < jobs.size() && sent - done < static_cast<std::size_t>(options.remote.queue);
         ++sent)
      TRY(judge->submit(std::move(jobs[sent])));
    TRY_ASSIGN(const auto judged, judge->next(Deadline::never()));
    if (!judged) return fail_by_fault("the gym lost {} jobs", sent - done);
    faults += judged->verdict.fault == Fault::infrastructure ? 1 : 0;
    print(*judged, options);
    progress.advance_to(++done);
  }
  if (faults == 0) return ok();
  return fail_by_fault("{} of {} jobs have no verdict: the gym's fault", faults, done);
}

void add_submit(CLI::App& gym, Run& run) {
  const auto options = std::make_shared<SubmitOptions>();
  CLI::App* command = gym.add_subcommand("submit", "Send kernels to a service, which judges them");
  add_service_options(*command, options->remote.url, options->remote.token_file);
  std::vector<const CLI::Option*> of_one_job = {
      command->add_option("--task", options->task_file,
                          "A file with Model, get_inputs and get_init_inputs"),
      command->add_option("--kernel", options->kernel_file, "A file that defines ModelNew")};
  command->add_option("--jobs", options->jobs_file,
                      "Submit the jobs of this JSONL instead. docs/service.md describes a line");
  of_one_job.push_back(add_choice(*command, "--policy", options->policy, kPolicyHelp));
  of_one_job.push_back(add_choice(*command, "--comparison", options->comparison, kComparisonHelp));
  of_one_job.push_back(add_choice(*command, "--strides", options->strides, kStridesHelp));
  of_one_job.push_back(add_choice(*command, "--backend", options->backend, kBackendHelp));
  add_choice(*command, "--priority", options->remote.priority, "Which jobs are judged first");
  of_one_job.push_back(
      command->add_option("--trials", options->trials, "How many trials with fresh values are run")
          ->check(CLI::Range(1, 1000)));
  of_one_job.push_back(
      command->add_option("--device", options->device,
                          "Judge on this class of devices only: a GPU's name, sm_90, gpu or cpu"));
  command->add_flag("--fresh", options->fresh,
                    "Judge again even if the same job was judged before");
  command->add_flag("--json", options->json, "Print each verdict as one line of JSON");
  add_example(*command,
              "gym submit --url http://127.0.0.1:8800 --task relu.py --kernel candidate.py");
  add_example(*command, "gym submit --url http://127.0.0.1:8800 --jobs jobs.jsonl --json");
  command->callback([options, of_one_job, &run] {
    for (const CLI::Option* option : of_one_job)
      if (option->count() > 0) options->ignored = option->get_name();
    run = [options] { return finish(submit(*options)); };
  });
}

void add_work(CLI::App& gym, Run& run) {
  const auto options = std::make_shared<WorkOptions>();
  CLI::App* command = gym.add_subcommand("work", "Judge the jobs of a store that many hosts share");
  command
      ->add_option("--store", options->store,
                   "The store: redis://HOST:PORT, rediss://HOST:PORT for TLS, or unix:FILE")
      ->required();
  add_choice(*command, "--role", options->role,
             "Which half of the work it does: it captures and compiles candidates, or judges what "
             "other hosts captured, or both");
  command->add_option("--capture-key", options->capture_key_file,
                      "A file with the key that hosts of roles capture and judge share");
  command->add_option("--verdict-key", options->verdict_key_file,
                      "A file with the key that seals verdicts; the API servers have the same key");
  command->add_option(
      "--dir", options->directory,
      "The folder of verdicts, compiled kernels and the secret (default: in the user's cache)");
  command
      ->add_option("--drain-seconds", options->drain_seconds,
                   "For how many seconds the worker may go on with its jobs after a signal to stop")
      ->check(CLI::Range(0.0, 86400.0));
  command->add_option("--metrics", options->metrics,
                      "The address HOST:PORT where Prometheus reads this host's counters");
  command->add_option("--config", options->config_file, "A TOML file of settings");
  command->add_option("--set", options->settings, "KEY=VALUE, of:\n" + work_config_help());
  add_example(*command, "gym work --store redis://127.0.0.1:6379");
  add_example(*command, "gym work --store redis://127.0.0.1:6379 --role capture --capture-key key");
  command->callback(
      [options, &run] { run = [options] { return finish(work_for_store(*options)); }; });
}

void add_gym_command(CLI::App& app, Run& run) {
  CLI::App* gym =
      app.add_subcommand("gym", "Judge as a service: serve, work, submit, status, quarantine");
  gym->require_subcommand(1);
  add_example(*gym, "gym serve --listen 127.0.0.1:8800");
  add_example(*gym, "gym submit --url http://127.0.0.1:8800 --task relu.py --kernel candidate.py");

  const auto serving = std::make_shared<ServeOptions>();
  CLI::App* serve = gym->add_subcommand("serve", "Serve this machine's judge over HTTP");
  serve->add_option("--listen", serving->listen, "The address HOST:PORT; port 0 takes any free one")
      ->required();
  auto* directory = serve->add_option(
      "--dir", serving->directory,
      "The folder of jobs, verdicts and the secret (default: in the user's cache)");
  auto* store =
      serve
          ->add_option("--store", serving->store,
                       "Serve the jobs of this store, which many hosts share, and leave judging to "
                       "`gym work`: redis://HOST:PORT, rediss://HOST:PORT for TLS, or unix:FILE")
          ->excludes(directory);
  serve
      ->add_option("--verdict-key", serving->verdict_key_file,
                   "A file with the key that must seal the verdicts of the store")
      ->needs(store);
  serve->add_option("--suite", serving->suite,
                    "Tasks that clients may name by id: curriculum, a folder in KernelBench's "
                    "layout, or JSONL");
  auto* token_file = serve->add_option("--token-file", serving->token_file,
                                       "Clients must show the first line of this file as their "
                                       "bearer token (default: $TRITONSMITH_GYM_TOKEN)");
  serve
      ->add_option("--tokens", serving->tokens_file,
                   "A TOML file of several tokens with quotas, in place of --token-file "
                   "(docs/gym-operator.md)")
      ->excludes(token_file);
  serve->add_option("--config", serving->config_file, "A TOML file of settings");
  serve->add_option("--set", serving->settings, "KEY=VALUE, of:\n" + gym_config_help());
  add_example(*serve, "gym serve --listen 127.0.0.1:8800 --dir gym");
  add_example(*serve, "gym serve --listen 127.0.0.1:8800 --suite curriculum");
  add_example(*serve, "gym serve --listen 127.0.0.1:8800 --store redis://127.0.0.1:6379");
  serve->callback([serving, &run] { run = [serving] { return finish(serve_gym(*serving)); }; });

  add_work(*gym, run);
  add_submit(*gym, run);

  add_gym_status(*gym, run);
  add_gym_quarantine(*gym, run);
}

const Command gym_command(CommandGroup::judge, "gym", add_gym_command);

}  // namespace
}  // namespace tritonsmith::cli
