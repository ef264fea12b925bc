// /v1/jobs and /v1/clients: submit jobs, find them by name and cancel them.
#include <algorithm>

#include "gym/service/routes/routes.h"

namespace tritonsmith::gym::service {
namespace {

Json job_json(const JobView& job) {
  Json json = {{"id", job.name}, {"state", name_of(job.state)}, {"submitted_ms", job.submitted_ms}};
  if (!job.doubt.empty()) json["doubt"] = job.doubt;
  if (job.state != JobState::done) return json;
  json["finished_ms"] = job.finished_ms;
  if (auto verdict = parse_json(job.verdict)) json["verdict"] = *std::move(verdict);
  return json;
}

HttpReply unknown_job() {
  return error_reply(404, "unknown_job", "no such job, or it was forgotten long ago");
}

HttpReply submit(const RouteContext& context, const HttpCall& call) {
  const auto body = api::parse_submission_body(call.body, context.limits);
  if (!body) return error_reply(400, "bad_request", body.error().message);
  const auto submitted = context.job_store.submit(body->submissions, call.submitter);
  if (!submitted) return store_error(submitted.error());
  if (const auto* full = std::get_if<JobStoreFull>(&*submitted))
    return full_reply(*full, full->submitter.empty() ? "queue_full" : "quota_exceeded");
  if (const auto* gone = std::get_if<ClientGone>(&*submitted))
    return error_reply(409, "client_gone",
                       fmt::format("the client {} has left (DELETE /v1/clients/{}): take another "
                                   "name",
                                   gone->client, gone->client));
  const auto& jobs = std::get<std::vector<JobView>>(*submitted);
  const auto repeats =
      std::ranges::count_if(jobs, [](const JobView& job) { return job.state != JobState::queued; });
  context.metrics.count_submission(jobs.size(), static_cast<std::size_t>(repeats));
  if (!body->is_batch) return json_reply(202, job_json(jobs.front()));
  Json list = Json::array();
  for (const JobView& job : jobs) list.push_back(job_json(job));
  return json_reply(202, {{"jobs", std::move(list)}});
}

HttpReply show(const RouteContext& context, const HttpCall& call, const std::string& name) {
  constexpr double longest = 3600;
  const auto wait = seconds_parameter(call, "wait", {.usual = 0, .longest = longest});
  if (!wait) return error_reply(400, "bad_request", wait.error().message);
  const auto job = await_job(context, name, *wait);
  if (!job) return store_error(job.error());
  return *job ? json_reply(200, job_json(**job)) : unknown_job();
}

HttpReply cancel(const RouteContext& context, const HttpCall& call, const std::string& name) {
  const auto known = context.job_store.find(name);
  if (!known) return store_error(known.error());
  if (!*known) return unknown_job();
  const auto cancelled = context.job_store.cancel(name, call.parameter("client"));
  if (!cancelled) return store_error(cancelled.error());
  const auto job = context.job_store.find(name);
  if (!job) return store_error(job.error());
  return *job ? json_reply(200, job_json(**job)) : unknown_job();
}

HttpReply cancel_all(const RouteContext& context, const HttpCall& call) {
  const std::string client = call.parameter("client");
  if (!api::is_client_name(client))
    return error_reply(400, "bad_request", "client=NAME says whose jobs to cancel");
  const auto done = context.job_store.cancel_all(client);
  return done ? json_reply(200, {{"client", client}}) : store_error(done.error());
}

HttpReply dismiss(const RouteContext& context, const std::string& client) {
  if (!api::is_client_name(client))
    return error_reply(400, "bad_request", "/v1/clients/NAME says who leaves");
  const auto done = context.job_store.dismiss(client);
  return done ? json_reply(200, {{"client", client}}) : store_error(done.error());
}

}  // namespace

std::vector<Route> job_routes(const RouteContext& context) {
  return {{.method = "POST",
           .path = "/v1/jobs",
           .answer = [&](const HttpCall& call, const auto&) { return submit(context, call); }},
          {.method = "DELETE",
           .path = "/v1/jobs",
           .answer = [&](const HttpCall& call, const auto&) { return cancel_all(context, call); }},
          {.method = "GET",
           .path = "/v1/jobs/{id}",
           .answer = [&](const auto& call, const auto& id) { return show(context, call, id); }},
          {.method = "DELETE",
           .path = "/v1/jobs/{id}",
           .answer = [&](const auto& call, const auto& id) { return cancel(context, call, id); }},
          {.method = "DELETE",
           .path = "/v1/clients/{name}",
           .answer = [&](const auto&, const auto& name) { return dismiss(context, name); }}};
}

}  // namespace tritonsmith::gym::service
