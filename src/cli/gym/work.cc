#include "cli/gym/work.h"

#include "base/cache_directory.h"
#include "base/config.h"
#include "base/file.h"
#include "base/log.h"
#include "cli/setup/given_settings.h"
#include "cli/setup/gym_worker.h"
#include "cli/setup/metrics_server.h"
#include "cli/setup/stop_signal.h"
#include "gym/api/judge_files.h"
#include "gym/service/redis/sealed_text.h"
#include "gym/steps/capture_host.h"
#include "gym/steps/store_capture_pool.h"

namespace tritonsmith::cli {
namespace {

struct WorkConfig {
  gym::judge::LocalJudgeConfig judge = judge_of_service();
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

// Halves of the work meet in the store, where only a seal tells a host's words from a stranger's.
Status check_keys(const WorkOptions& options) {
  if (options.role == WorkRole::all && !options.capture_key_file.empty())
    return fail(
        "--capture-key goes with --role capture or judge: with role all, one host does both");
  if (options.role == WorkRole::capture && !options.verdict_key_file.empty())
    return fail("--verdict-key is for hosts that judge; a host that captures must not have it");
  if (options.role != WorkRole::all && options.capture_key_file.empty())
    return fail("--role {} needs --capture-key FILE, which all hosts of both roles share",
                name_of(options.role));
  return ok();
}

Result<gym::steps::StepQueueConfig> step_queue(const WorkOptions& options) {
  TRY_ASSIGN(auto address, gym::service::parse_redis_address(options.store));
  return gym::steps::StepQueueConfig{.address = std::move(address)};
}

// Makes the pool of a judge whose candidates other hosts capture.
Result<MakePool> pool_of_store(const WorkOptions& options) {
  TRY_ASSIGN(const auto queue, step_queue(options));
  TRY_ASSIGN(const std::string key, gym::service::read_store_key(options.capture_key_file));
  return MakePool([queue, key] {
    return std::make_unique<gym::steps::StoreCapturePool>(
        gym::steps::StoreCaptureConfig{.queue = queue, .key = key});
  });
}

std::string gauge(std::string_view name, std::string_view help, int value) {
  return fmt::format(
      "# HELP tritonsmith_{0} {1}\n# TYPE tritonsmith_{0} gauge\ntritonsmith_{0} {2}\n", name, help,
      value);
}

Result<std::unique_ptr<MetricsServer>> serve_metrics(const WorkOptions& options,
                                                     std::function<std::string()> text) {
  if (options.metrics.empty()) return std::unique_ptr<MetricsServer>();
  return MetricsServer::start(options.metrics, std::move(text));
}

std::string without_password(const std::string& url) {
  return url.substr(url.rfind('@') + 1);  // npos + 1 is 0
}

// Runs until the signal. A host that captures has neither referees nor verdicts.
Status capture_for_store(const WorkOptions& options, const WorkConfig& config,
                         const StopSignal& stop) {
  TRY_ASSIGN(auto settings, step_queue(options));
  TRY_ASSIGN(std::string key, gym::service::read_store_key(options.capture_key_file));
  gym::capture::CaptureConfig capture = config.judge.capture;
  if (capture.compile_cache_directory.empty())
    capture.compile_cache_directory =
        std::filesystem::path(config.judge.directory) / gym::api::kKernelsDirectory;
  TRY_ASSIGN(const auto pool, gym::capture::CapturePool::start(capture));
  gym::steps::StepQueue queue(std::move(settings));
  // A few more steps than can run, so that the pool never has to wait.
  const auto at_once = static_cast<std::size_t>(2 * (capture.slots + capture.compilers));
  TRY_ASSIGN(const auto host,
             gym::steps::CaptureHost::start(queue, *pool,
                                            {.host = name_of_host(),
                                             .key = std::move(key),
                                             .at_once = at_once,
                                             .lease = std::chrono::seconds(config.lease_seconds)}));
  TRY_ASSIGN(const auto metrics, serve_metrics(options, [&host] {
               return gauge("up", "1 while steps are done", host->trouble().empty() ? 1 : 0) +
                      gauge("running_steps", "captures and compilations under way",
                            host->running());
             }));
  LOG("gym: capturing for {}", without_password(options.store));
  stop.wait();
  LOG("gym: finishing the steps in hand; a second signal leaves them to other hosts");
  StopSignal::restore();
  host->drain(Deadline::in_seconds(options.drain_seconds));
  return ok();
}

}  // namespace

std::string work_config_help() { return config_help<WorkConfig>(); }

Status work_for_store(const WorkOptions& options) {
  set_log_times(true);
  TRY(check_keys(options));
  TRY_ASSIGN(const WorkConfig config, read_config(options));
  // To open the store and the pool takes seconds. A signal in that time, too, ends the program in good
  // order.
  TRY_ASSIGN(const StopSignal stop, StopSignal::install());
  if (options.role == WorkRole::capture) return capture_for_store(options, config, stop);
  MakePool make_pool;
  if (options.role == WorkRole::judge) {
    TRY_ASSIGN(make_pool, pool_of_store(options));
  }
  TRY_ASSIGN(const auto known,
             gym::judge::KnownVerdicts::open(std::filesystem::path(config.judge.directory) /
                                             gym::api::kVerdictsFile));
  TRY_ASSIGN(const auto store, open_shared_store({.url = options.store,
                                                  .verdict_key_file = options.verdict_key_file,
                                                  .waits_for = gym::service::WaitsFor::work},
                                                 {.finished = config.finished_jobs},
                                                 [&known](const gym::api::JudgeJob& job) {
                                                   return known->find(job);
                                                 }));
  gym::service::ServiceMetrics metrics;
  gym::service::WorkerSettings settings = watching_gpus(config.judge);
  settings.is_alone = false;
  settings.role = std::string(name_of(options.role));
  settings.lease = std::chrono::seconds(config.lease_seconds);
  gym::service::JobDispatcher dispatcher(
      *store, tested_judges(config.judge, *known, store->gpus(), make_pool), std::move(settings),
      metrics);
  TRY_ASSIGN(const auto served, serve_metrics(options, [&] {
               const auto counts = store->counts();
               return metrics.text(counts.value_or(gym::service::JobCounts{}),
                                   counts && dispatcher.trouble().empty(),
                                   dispatcher.why_not_ready().empty());
             }));
  LOG("gym: working for {}", without_password(options.store));
  stop.wait();
  LOG("gym: finishing the jobs in hand; a second signal leaves them to other workers");
  // The second signal must end the wait, so it ends the program: leases then end by themselves.
  StopSignal::restore();
  dispatcher.drain(Deadline::in_seconds(options.drain_seconds));
  return ok();
}

}  // namespace tritonsmith::cli
