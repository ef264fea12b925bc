#include "cli/gym_serve.h"

#include <fcntl.h>
#include <sys/file.h>

#include "base/cache_directory.h"
#include "base/clock.h"
#include "base/config.h"
#include "base/file.h"
#include "base/log.h"
#include "cli/judges.h"
#include "cli/stop_signal.h"
#include "gym/judge/known_verdicts.h"
#include "gym/judge/local_judge.h"
#include "gym/judge/start_check.h"
#include "gym/service/http_server.h"
#include "serve/completion_calls.h"

namespace tritonsmith::cli {
namespace {

struct GymConfig {
  gym::judge::LocalJudgeConfig judge;
  int unfinished_jobs = gym::service::JobStoreLimits{}.unfinished;
  int finished_jobs = gym::service::JobStoreLimits{}.finished;
  int batch = 1000;
  int source_kib = 1024;
  int body_mib = 32;
  int connections = 256;
  int streams = 128;
  int idle_seconds = 10;
  Comparison comparison = Comparison::budget;

  static Fields<GymConfig> fields() {
    using C = GymConfig;
    Fields<C> all = {
        field("unfinished_jobs", &C::unfinished_jobs, "queued and running; more are refused",
              between(1, 1 << 24)),
        field("finished_jobs", &C::finished_jobs, "kept for those who ask later",
              between(1, 1 << 24)),
        field("batch", &C::batch, "jobs of one request", between(1, 1 << 20)),
        field("source_kib", &C::source_kib, "of a task or a kernel", between(1, 1 << 16)),
        field("body_mib", &C::body_mib, "of a request", between(1, 1 << 10)),
        field("connections", &C::connections, "at a time; more get 503", between(2, 1 << 14)),
        field("streams", &C::streams, "of them, of verdicts", between(1, 1 << 14)),
        field("idle_seconds", &C::idle_seconds, "until a silent client is left", between(1, 3600)),
        field("comparison", &C::comparison,
              "of values, for jobs that name none: budget, or allclose, as KernelBench compares"),
    };
    append_section(all, "judge", &C::judge);
    return all;
  }
};

Result<GymConfig> read_config(const ServeOptions& options) {
  GymConfig config;
  if (!options.config_file.empty()) {
    TRY_ASSIGN(const Settings in_file, settings_from_toml_file(options.config_file));
    TRY(apply_settings(config, in_file, options.config_file));
  }
  TRY_ASSIGN(const Settings on_top, settings_from_overrides(options.settings));
  TRY(apply_settings(config, on_top, "--set"));
  std::string& directory = config.judge.directory;
  if (!options.directory.empty()) directory = options.directory;
  if (directory.empty()) directory = cache_directory("gym");
  if (directory.empty()) return fail("say where jobs and verdicts are kept: --dir DIR");
  return config;
}

// Two services over one list of jobs would judge each twice.
Result<Fd> lock_directory(const std::string& directory) {
  TRY(make_directories(directory));
  const std::string file = directory + "/lock";
  Fd lock(::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  if (!lock) return fail_errno(file);
  if (::flock(lock.get(), LOCK_EX | LOCK_NB) != 0)
    return fail("{}: another `gym serve` works in this directory; give this one its own --dir",
                directory);
  return lock;
}

Result<std::vector<std::string>> tokens_for(const std::string& token_file,
                                            const std::string& host) {
  TRY_ASSIGN(const std::string token, gym::api::read_token(token_file));
  if (!token.empty()) return std::vector<std::string>{token};
  if (!gym::api::is_loopback(host))
    return fail("{} can be reached from other machines: set {} or --token-file", host,
                gym::api::kTokenVariable);
  return std::vector<std::string>();
}

std::optional<gym::service::HttpReply> completion_reply(const gym::service::HttpCall& call) {
  if (call.method != "POST") return std::nullopt;
  const auto answer = serve::answer_completion_call(call.path, call.body);
  if (!answer) return std::nullopt;
  if (!*answer) return gym::service::error_reply(400, "bad_request", (*answer).error().message);
  return gym::service::HttpReply{.body = to_line(**answer) + "\n"};
}

}  // namespace

std::string gym_config_help() { return config_help<GymConfig>(); }

Status serve_gym(const ServeOptions& options) {
  TRY_ASSIGN(const GymConfig config, read_config(options));
  TRY_ASSIGN(const gym::api::HostAndPort address, gym::api::parse_host_and_port(options.listen));
  TRY_ASSIGN(auto tokens, tokens_for(options.token_file, address.host));
  TRY_ASSIGN(const Fd lock, lock_directory(config.judge.directory));
  TRY_ASSIGN(const auto known,
             gym::judge::KnownVerdicts::open(config.judge.directory + "/verdicts.sqlite"));
  TRY_ASSIGN(const auto job_store,
             gym::service::JobStore::open(
                 config.judge.directory + "/jobs.sqlite",
                 {.unfinished = config.unfinished_jobs, .finished = config.finished_jobs},
                 [&known](const gym::api::JudgeJob& job) { return known->find(job); }));
  TRY_ASSIGN(const StopSignal stop, StopSignal::install());
  gym::service::ServiceMetrics metrics;
  const auto make_judge =
      [judge = config.judge,
       &known](const std::stop_token& stopping) -> Result<std::unique_ptr<gym::api::Judge>> {
    const Stopwatch watch;
    TRY_ASSIGN(auto local, start_untested_judge(judge));
    TRY(gym::judge::self_test(*local, {.referees = local->referees()}, stopping));
    LOG("gym: the self-test passed, {:.1f} s after the start", watch.seconds());
    known->learn(local->versions());
    return std::unique_ptr<gym::api::Judge>(std::move(local));
  };
  // Twice as many as are judged at a time, so that none of the judge's places is ever empty.
  gym::service::JobDispatcher dispatcher(*job_store, make_judge, 2 * config.judge.in_flight,
                                         metrics);
  gym::service::Service service(*job_store, dispatcher, metrics,
                                {.source_bytes = static_cast<std::size_t>(config.source_kib) << 10,
                                 .batch = static_cast<std::size_t>(config.batch),
                                 .comparison = config.comparison});
  service.extend(completion_reply);
  TRY_ASSIGN(const auto server, gym::service::HttpServer::start(
                                    {.address = address,
                                     .tokens = std::move(tokens),
                                     .connections = config.connections,
                                     .streams = config.streams,
                                     .body_bytes = static_cast<std::size_t>(config.body_mib) << 20,
                                     .idle_seconds = config.idle_seconds},
                                    service, metrics));
  LOG("gym: serving on {}:{}, jobs and verdicts in {}", address.host, server->port(),
      config.judge.directory);
  stop.wait();
  LOG("gym: stopping; unfinished jobs are kept");
  return ok();
}

}  // namespace tritonsmith::cli
