#include "cli/gym/work.h"

#include "base/cache_directory.h"
#include "base/config.h"
#include "base/file.h"
#include "base/log.h"
#include "cli/setup/given_settings.h"
#include "cli/setup/gym_worker.h"
#include "cli/setup/stop_signal.h"
#include "gym/api/judge_files.h"

namespace tritonsmith::cli {
namespace {

struct WorkConfig {
  gym::judge::LocalJudgeConfig judge;
  int finished_jobs = 1'000'000;
  int lease_seconds = 60;

  static Fields<WorkConfig> fields() {
    using C = WorkConfig;
    Fields<C> all = {field("finished_jobs", &C::finished_jobs,
                           "How many finished jobs the store keeps for clients that ask later.",
                           between(1, 1 << 28)),
                     field("lease_seconds", &C::lease_seconds,
                           "If a worker is silent for this long, other workers take its jobs.",
                           between(1, 86400))};
    append_section(all, "judge", &C::judge);
    return all;
  }
};

Result<WorkConfig> read_config(const WorkOptions& options) {
  WorkConfig config;
  TRY(apply_given(config, options.config_file, options.settings));
  std::string& directory = config.judge.directory;
  if (!options.directory.empty()) directory = options.directory;
  if (directory.empty()) directory = cache_directory("gym-worker");
  if (directory.empty()) return fail("say where verdicts are kept: --dir DIR");
  TRY(make_directories(directory));
  return config;
}

}  // namespace

std::string work_config_help() { return config_help<WorkConfig>(); }

Status work_for_store(const WorkOptions& options) {
  set_log_times(true);
  TRY_ASSIGN(const WorkConfig config, read_config(options));
  TRY_ASSIGN(const auto known,
             gym::judge::KnownVerdicts::open(std::filesystem::path(config.judge.directory) /
                                             gym::api::kVerdictsFile));
  TRY_ASSIGN(const auto store, open_shared_store(options.store, {.finished = config.finished_jobs},
                                                 [&known](const gym::api::JudgeJob& job) {
                                                   return known->find(job);
                                                 }));
  TRY_ASSIGN(const StopSignal stop, StopSignal::install());
  gym::service::ServiceMetrics metrics;
  gym::service::WorkerSettings settings = worker_settings(config.judge);
  settings.is_alone = false;
  settings.lease = std::chrono::seconds(config.lease_seconds);
  gym::service::JobDispatcher dispatcher(*store, tested_judges(config.judge, *known),
                                         std::move(settings), metrics);
  LOG("gym: working for {}", options.store.substr(options.store.rfind('@') + 1));
  stop.wait();
  LOG("gym: finishing the jobs in hand; a second signal leaves them to other workers");
  // The second signal must end the wait, so it ends the program: leases then end by themselves.
  StopSignal::restore();
  dispatcher.drain(Deadline::in_seconds(options.drain_seconds));
  return ok();
}

}  // namespace tritonsmith::cli
