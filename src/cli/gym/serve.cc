#include "cli/gym/serve.h"

#include <fcntl.h>
#include <sys/file.h>

#include "base/cache_directory.h"
#include "base/config.h"
#include "base/file.h"
#include "base/log.h"
#include "cli/setup/device_facts.h"
#include "cli/setup/given_settings.h"
#include "cli/setup/gym_worker.h"
#include "cli/setup/stop_signal.h"
#include "curriculum/suite.h"
#include "gym/api/judge_files.h"
#include "gym/service/http/http_server.h"
#include "gym/service/sqlite_job_store.h"
#include "serve/completion_calls.h"
#include "serve/mcp/mcp_routes.h"
#include "serve/nemo_gym/nemo_gym_routes.h"
#include "serve/openenv/openenv_routes.h"
#include "serve/rewards/reward_routes.h"

namespace tritonsmith::cli {
namespace {

struct GymConfig {
  gym::judge::LocalJudgeConfig judge = judge_of_service();
  int unfinished_jobs = gym::service::JobStoreLimits{}.unfinished;
  int finished_jobs = gym::service::JobStoreLimits{}.finished;
  int batch = 1000;
  int source_kib = 1024;
  int body_mib = 32;
  int connections = 256;
  int streams = 128;
  int idle_seconds = 10;
  Comparison comparison = Comparison::budget;
  gym::service::AccessLogForm access_log = gym::service::AccessLogForm::off;

  static Fields<GymConfig> fields() {
    using C = GymConfig;
    Fields<C> all = {
        field("unfinished_jobs", &C::unfinished_jobs,
              "How many jobs may be queued or running. The service refuses further ones.",
              between(1, 1 << 24)),
        field("finished_jobs", &C::finished_jobs,
              "How many finished jobs the service keeps for clients that ask later.",
              between(1, 1 << 24)),
        field("batch", &C::batch, "How many jobs one request may hold.", between(1, 1 << 20)),
        field("source_kib", &C::source_kib, "The largest source of a task or a kernel, in KiB.",
              between(1, 1 << 16)),
        field("body_mib", &C::body_mib, "The largest body of a request, in MiB.",
              between(1, 1 << 10)),
        field("connections", &C::connections,
              "How many connections may be open. Further ones get status 503.",
              between(2, 1 << 14)),
        field("streams", &C::streams, "How many of the connections may be streams of verdicts.",
              between(1, 1 << 14)),
        field("idle_seconds", &C::idle_seconds,
              "The service drops a client that is silent for this long.", between(1, 3600)),
        field("comparison", &C::comparison,
              "The comparison of values for jobs that name none: budget, or allclose as in "
              "KernelBench."),
        field("access_log", &C::access_log,
              "One line on stdout for each request: off, text or json."),
    };
    append_section(all, "judge", &C::judge);
    return all;
  }
};

Result<GymConfig> read_config(const ServeOptions& options) {
  GymConfig config;
  TRY(apply_given(config, options.config_file, options.settings));
  std::string& directory = config.judge.directory;
  if (!options.directory.empty()) directory = options.directory;
  if (!options.store.empty()) return config;
  if (directory.empty()) directory = cache_directory("gym");
  if (directory.empty()) return fail("say where jobs and verdicts are kept: --dir DIR");
  return config;
}

// Locks the directory, because two services with the same jobs would judge each job twice.
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

Result<std::vector<gym::service::Token>> tokens_for(const ServeOptions& options,
                                                    const std::string& host) {
  if (!options.tokens_file.empty()) return gym::service::read_tokens_file(options.tokens_file);
  TRY_ASSIGN(const std::string token, gym::api::read_token(options.token_file));
  if (!token.empty())
    return std::vector<gym::service::Token>{{.name = "token", .token = token, .is_operator = true}};
  if (!gym::api::is_loopback(host))
    return fail("{} can be reached from other machines: set {}, --token-file or --tokens", host,
                gym::api::kTokenVariable);
  return std::vector<gym::service::Token>();
}

// Returns the GPU that times kernels, or the chip that they are compiled for.
std::string name_of_device(const gym::judge::LocalJudgeConfig& config) {
  const auto facts = device_facts(config);
  if (!facts) return "";
  const Json& gpus = (*facts)["gpus"];
  return gpus.empty() ? facts->value("target", "") + " (compiled, not run)"
                      : gpus[0].value("name", "");
}

Result<serve::Suite> read_suite(const std::string& spec) {
  if (spec.empty()) return serve::Suite();
  TRY_ASSIGN(auto tasks, curriculum::load_suite(spec));
  return serve::Suite(std::move(tasks));
}

// The endpoints that trainers call about completions.
std::vector<gym::service::Route> completion_routes() {
  std::vector<gym::service::Route> routes;
  for (const std::string_view path : serve::completion_call_paths())
    routes.push_back({.method = "POST",
                      .path = std::string(path),
                      .answer = [path](const gym::service::HttpCall& call, const std::string&) {
                        const auto answer = serve::answer_completion_call(path, call.body);
                        CHECK(answer, "{} is no completion call", path);
                        if (!*answer)
                          return gym::service::error_reply(400, "bad_request",
                                                           answer->error().message);
                        return gym::service::json_reply(200, **answer);
                      }});
  return routes;
}

// Adds the protocols of trainers and agents to a service.
class Protocols {
 public:
  Protocols(gym::service::Service& service, const serve::Suite& suite,
            const gym::judge::LocalJudgeConfig& judge)
      : tools_(
            suite, service.context().limits, [judge] { return device_facts(judge); },
            serve::mcp::FileAccess::none),
        mcp_({service.context()}, tools_),
        environments_{service.context(), suite, mcp_, name_of_device(judge)} {
    service.add(completion_routes());
    service.add(serve::reward_routes(service.context(), suite));
    service.add(serve::nemo_gym::nemo_gym_routes(service.context(), suite));
    service.add(serve::mcp::mcp_routes(mcp_));
    service.add(serve::openenv::openenv_routes(environments_));
  }

 private:
  serve::mcp::Tools tools_;
  serve::mcp::McpServer mcp_;
  serve::openenv::EnvironmentContext environments_;
};

using gym::service::HttpServerConfig;

Result<HttpServerConfig> http_options(const ServeOptions& options, const GymConfig& config) {
  TRY_ASSIGN(const gym::api::HostAndPort address, gym::api::parse_host_and_port(options.listen));
  TRY_ASSIGN(auto tokens, tokens_for(options, address.host));
  return HttpServerConfig{.address = address,
                          .tokens = std::move(tokens),
                          .connections = config.connections,
                          .streams = config.streams,
                          .body_bytes = static_cast<std::size_t>(config.body_mib) << 20,
                          .idle_seconds = config.idle_seconds,
                          .access_log = config.access_log};
}

gym::service::JobStoreLimits store_limits(const GymConfig& config) {
  return {.unfinished = config.unfinished_jobs, .finished = config.finished_jobs};
}

// The settings that a call of `gym serve` chose.
struct ServeSetup {
  const GymConfig& config;
  const HttpServerConfig& http;
  const serve::Suite& suite;
};

// Both kinds of service have a job store, and know how its jobs are judged.
struct ServedStore {
  gym::service::JobStore& job_store;
  gym::service::ServiceHealth health;
  gym::service::ServiceMetrics& metrics;
  std::string location;  // where jobs and verdicts are, for the log
};

Status serve_until(const StopSignal& stop, const ServedStore& served, const ServeSetup& setup) {
  const GymConfig& config = setup.config;
  const HttpServerConfig& http = setup.http;
  gym::service::Service service(served.job_store, served.health, served.metrics,
                                {.source_bytes = static_cast<std::size_t>(config.source_kib) << 10,
                                 .batch = static_cast<std::size_t>(config.batch),
                                 .comparison = config.comparison});
  const Protocols protocols(service, setup.suite, config.judge);
  TRY_ASSIGN(const auto server, gym::service::HttpServer::start(http, service, served.metrics));
  LOG("gym: serving on {}:{}, jobs and verdicts in {}", http.address.host, server->port(),
      served.location);
  stop.wait();
  LOG("gym: stopping; unfinished jobs are kept");
  return ok();
}

// This machine judges, and SQLite keeps the jobs.
Status serve_judge(const ServeSetup& setup, const StopSignal& stop) {
  const GymConfig& config = setup.config;
  const std::string& directory = config.judge.directory;
  TRY_ASSIGN(const Fd lock, lock_directory(directory));
  TRY_ASSIGN(const auto known, gym::judge::KnownVerdicts::open(std::filesystem::path(directory) /
                                                               gym::api::kVerdictsFile));
  TRY_ASSIGN(const auto job_store,
             gym::service::SqliteJobStore::open(
                 directory + "/jobs.sqlite", store_limits(config),
                 [&known](const gym::api::JudgeJob& job) { return known->find(job); }));
  gym::service::ServiceMetrics metrics;
  gym::service::JobDispatcher dispatcher(*job_store,
                                         tested_judges(config.judge, *known, job_store->gpus()),
                                         watching_gpus(config.judge), metrics);
  return serve_until(stop, {*job_store, dispatcher.health(), metrics, directory}, setup);
}

// Workers elsewhere judge, and Redis keeps the jobs. An API server has nothing of its own.
Status serve_store(const SharedStore& shared, const ServeSetup& setup, const StopSignal& stop) {
  TRY_ASSIGN(const auto job_store, open_shared_store(shared, store_limits(setup.config)));
  gym::service::ServiceMetrics metrics;
  return serve_until(stop,
                     {*job_store, gym::service::health_of_workers(job_store->reports()), metrics,
                      job_store->location()},
                     setup);
}

}  // namespace

std::string gym_config_help() { return config_help<GymConfig>(); }

Status serve_gym(const ServeOptions& options) {
  set_log_times(true);
  TRY_ASSIGN(const GymConfig config, read_config(options));
  TRY_ASSIGN(const HttpServerConfig http, http_options(options, config));
  TRY_ASSIGN(const serve::Suite suite, read_suite(options.suite));
  TRY_ASSIGN(const StopSignal stop, StopSignal::install());
  const ServeSetup setup{.config = config, .http = http, .suite = suite};
  if (options.store.empty()) return serve_judge(setup, stop);
  return serve_store({.url = options.store,
                      .verdict_key_file = options.verdict_key_file,
                      .waits_for = gym::service::WaitsFor::verdicts},
                     setup, stop);
}

}  // namespace tritonsmith::cli
