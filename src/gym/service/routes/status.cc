// The state of the service: /v1/status, /livez, /readyz, /healthz, /metrics and /openapi.json.
#include "base/utc_time.h"
#include "gym/service/routes/routes.h"
#include "gym/service/service.h"

namespace tritonsmith::gym::service {
namespace {

Json worker_json(const WorkerView& worker) {
  return {{"name", worker.name},       {"host", worker.host},       {"role", worker.role},
          {"devices", worker.devices}, {"gpus", worker.gpus},       {"at_once", worker.at_once},
          {"running", worker.running}, {"version", worker.version}, {"trouble", worker.trouble},
          {"seen_ms", worker.seen_ms}};
}

HttpReply status(const RouteContext& context) {
  const auto counts = context.job_store.counts();
  if (!counts) return store_error(counts.error());
  Json queued = Json::object();
  for (const auto& [priority, count] : counts->queued)
    queued[std::string(name_of(priority))] = count;
  Json verdicts = Json::object();
  for (const auto& [outcome, count] : context.metrics.verdicts())
    verdicts[std::string(name_of(outcome))] = count;
  const auto workers = context.job_store.reports().workers();
  if (!workers) return store_error(workers.error());
  Json judging = Json::array();
  for (const WorkerView& worker : *workers) judging.push_back(worker_json(worker));
  const auto quarantined = context.job_store.gpus().quarantined();
  if (!quarantined) return store_error(quarantined.error());
  const std::string trouble = context.health.trouble();
  return json_reply(200, {{"queued", std::move(queued)},
                          {"running", counts->running},
                          {"limit", counts->limit},
                          {"repeated_verdicts", counts->repeated_verdicts},
                          {"judged_again", counts->judged_again},
                          {"workers", std::move(judging)},
                          {"quarantine", to_json(*quarantined)},
                          {"now_ms", unix_milliseconds()},
                          {"streams", context.metrics.streams()},
                          {"verdicts", std::move(verdicts)},
                          {"ready", context.health.why_not_ready().empty()},
                          {"works", trouble.empty()},
                          {"trouble", trouble}});
}

HttpReply health(const std::string& trouble) {
  return json_reply(trouble.empty() ? 200 : 503,
                    {{"status", trouble.empty() ? "healthy" : "unhealthy"}, {"trouble", trouble}});
}

HttpReply readiness(const std::string& why_not) {
  HttpReply reply =
      json_reply(why_not.empty() ? 200 : 503,
                 {{"status", why_not.empty() ? "ready" : "not ready"}, {"trouble", why_not}});
  reply.retry_after_seconds = why_not.empty() ? 0 : 1;
  return reply;
}

HttpReply metrics(const RouteContext& context) {
  const auto counts = context.job_store.counts();
  if (!counts) return store_error(counts.error());
  return {.content_type = "text/plain; version=0.0.4",
          .body = context.metrics.text(*counts, context.health.trouble().empty(),
                                       context.health.why_not_ready().empty())};
}

Route open_route(const std::string& path, std::function<HttpReply()> answer) {
  return {.method = "GET",
          .path = path,
          .answer = [answer = std::move(answer)](const auto&, const auto&) { return answer(); },
          .is_public = true};
}

}  // namespace

std::vector<Route> status_routes(const RouteContext& context) {
  const auto healthy = [&] { return health(context.health.trouble()); };
  return {{.method = "GET",
           .path = "/v1/status",
           .answer = [&](const auto&, const auto&) { return status(context); }},
          {.method = "GET",
           .path = "/metrics",
           .answer = [&](const auto&, const auto&) { return metrics(context); }},
          open_route("/livez",
                     [] {
                       return json_reply(200, {{"status", "alive"}});
                     }),
          open_route("/readyz", [&] { return readiness(context.health.why_not_ready()); }),
          open_route("/healthz", healthy),
          open_route("/health", healthy),
          open_route("/openapi.json",
                     [] { return HttpReply{.body = std::string(openapi_document())}; })};
}

}  // namespace tritonsmith::gym::service
