#include "gym/service/service.h"

#include <algorithm>
#include <charconv>

#include "gym/service/kernelgym.h"

namespace tritonsmith::gym::service {
namespace {

constexpr std::string_view kJobs = "/v1/jobs/";
constexpr std::string_view kClients = "/v1/clients/";
constexpr double kLongestWait = 3600;

HttpReply json_reply(int status, const Json& json) {
  return {.status = status, .body = to_line(json) + "\n"};
}

HttpReply internal_error(const Error& error) {
  return error_reply(503, "store_failed", error.message);
}

Json to_json(const JobView& job) {
  Json json = {{"id", job.name}, {"state", name_of(job.state)}, {"submitted_ms", job.submitted_ms}};
  if (job.state != JobState::done) return json;
  json["finished_ms"] = job.finished_ms;
  if (auto verdict = parse_json(job.verdict)) json["verdict"] = *std::move(verdict);
  return json;
}

std::string parameter(const HttpCall& call, const std::string& name) {
  const auto at = call.query.find(name);
  return at == call.query.end() ? std::string() : at->second;
}

Result<double> seconds_parameter(const HttpCall& call, const std::string& name) {
  const std::string text = parameter(call, name);
  if (text.empty()) return 0.0;
  double seconds = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), seconds);
  if (code != std::errc() || end != text.data() + text.size() ||
      !(seconds >= 0 && seconds <= kLongestWait))
    return fail("{} is a number of seconds up to {}", name, kLongestWait);
  return seconds;
}

// "EPOCH-NUMBER"; of another epoch: from the beginning.
std::int64_t number_of_event(const std::string& id, const std::string& epoch) {
  if (!id.starts_with(epoch + "-")) return 0;
  std::int64_t number = 0;
  std::from_chars(id.data() + epoch.size() + 1, id.data() + id.size(), number);
  return std::max<std::int64_t>(number, 0);
}

}  // namespace

HttpReply error_reply(int status, std::string_view code, std::string_view message) {
  HttpReply reply =
      json_reply(status, {{"error", {{"code", code}, {"message", message}}}, {"detail", message}});
  if (status == 429 || status == 503) reply.retry_after_seconds = 1;
  return reply;
}

bool Service::is_public(const std::string& path) {
  return path == "/healthz" || path == "/health" || path == "/openapi.json";
}

void Service::stop() {
  stopping_.request_stop();
  job_store_.notify();
}

HttpReply Service::answer(const HttpCall& call) {
  const bool gets = call.method == "GET" || call.method == "HEAD";
  const std::string& path = call.path;
  if (path == "/v1/jobs" && call.method == "POST") return submit(call);
  if (path == "/v1/jobs" && call.method == "DELETE") return cancel_all(call);
  if (path.starts_with(kJobs) && gets) return show(path.substr(kJobs.size()), call);
  if (path.starts_with(kJobs) && call.method == "DELETE")
    return cancel(path.substr(kJobs.size()), call);
  if (path.starts_with(kClients) && call.method == "DELETE")
    return dismiss(path.substr(kClients.size()));
  if (path == "/v1/verdicts" && gets) return verdicts(call);
  if (path == "/v1/status" && gets) return status();
  if ((path == "/healthz" || path == "/health") && gets) return health();
  if (path == "/metrics" && gets)
    return {.content_type = "text/plain; version=0.0.4",
            .body = metrics_.text(job_store_.counts(), dispatcher_.trouble().empty())};
  if (path == "/openapi.json" && gets) return {.body = std::string(openapi_document())};
  if (path == "/evaluate" && call.method == "POST") return evaluate(call);
  if ((path.starts_with("/status/") || path.starts_with("/results/")) && gets)
    return kernelgym_lookup(call);
  if (auto reply = further_(call)) return *std::move(reply);
  return error_reply(404, "not_found",
                     fmt::format("there is no {} {}; see /openapi.json", call.method, path));
}

HttpReply Service::submit(const HttpCall& call) {
  const auto body = api::parse_submission_body(call.body, limits_);
  if (!body) return error_reply(400, "bad_request", body.error().message);
  const auto submitted = job_store_.submit(body->submissions);
  if (!submitted) return internal_error(submitted.error());
  if (const auto* full = std::get_if<JobStoreFull>(&*submitted))
    return error_reply(429, "queue_full",
                       fmt::format("{} of at most {} jobs are unfinished; try again later",
                                   full->unfinished, full->limit));
  if (const auto* gone = std::get_if<ClientGone>(&*submitted))
    return error_reply(409, "client_gone",
                       fmt::format("the client {} has left (DELETE /v1/clients/{}): take another "
                                   "name",
                                   gone->client, gone->client));
  const auto& jobs = std::get<std::vector<JobView>>(*submitted);
  const auto repeats =
      std::ranges::count_if(jobs, [](const JobView& job) { return job.state != JobState::queued; });
  metrics_.count_submission(jobs.size(), static_cast<std::size_t>(repeats));
  if (!body->is_batch) return json_reply(202, to_json(jobs.front()));
  Json list = Json::array();
  for (const JobView& job : jobs) list.push_back(to_json(job));
  return json_reply(202, {{"jobs", std::move(list)}});
}

Result<std::optional<JobView>> Service::await(const std::string& name, double seconds) {
  const Deadline until = Deadline::in_seconds(seconds);
  while (true) {
    const std::uint64_t seen = job_store_.changes();
    TRY_ASSIGN(auto job, job_store_.find(name));
    const bool waits = job && (job->state == JobState::queued || job->state == JobState::running);
    if (!waits || until.passed() || stopping_.stop_requested()) return job;
    job_store_.wait_for_change(seen, until);
  }
}

HttpReply Service::show(const std::string& name, const HttpCall& call) {
  const auto wait = seconds_parameter(call, "wait");
  if (!wait) return error_reply(400, "bad_request", wait.error().message);
  const auto job = await(name, *wait);
  if (!job) return internal_error(job.error());
  if (!*job) return error_reply(404, "unknown_job", "no such job, or it was forgotten long ago");
  return json_reply(200, to_json(**job));
}

HttpReply Service::cancel(const std::string& name, const HttpCall& call) {
  const auto known = job_store_.find(name);
  if (!known) return internal_error(known.error());
  if (!*known) return error_reply(404, "unknown_job", "no such job, or it was forgotten long ago");
  if (const auto cancelled = job_store_.cancel(name, parameter(call, "client")); !cancelled)
    return internal_error(cancelled.error());
  const auto now = job_store_.find(name);
  if (!now || !*now) return error_reply(404, "unknown_job", "the job was forgotten");
  return json_reply(200, to_json(**now));
}

HttpReply Service::cancel_all(const HttpCall& call) {
  const std::string client = parameter(call, "client");
  if (!api::is_client_name(client))
    return error_reply(400, "bad_request", "client=NAME says whose jobs to cancel");
  if (const auto done = job_store_.cancel_all(client); !done) return internal_error(done.error());
  return json_reply(200, {{"client", client}});
}

HttpReply Service::dismiss(const std::string& client) {
  if (!api::is_client_name(client))
    return error_reply(400, "bad_request", "/v1/clients/NAME says who leaves");
  if (const auto done = job_store_.dismiss(client); !done) return internal_error(done.error());
  return json_reply(200, {{"client", client}});
}

HttpReply Service::verdicts(const HttpCall& call) const {
  const std::string client = parameter(call, "client");
  if (!api::is_client_name(client))
    return error_reply(400, "bad_request", "client=NAME says whose verdicts to stream");
  HttpReply reply{.content_type = "text/event-stream"};
  reply.stream =
      StreamRequest{.client = client,
                    .after = number_of_event(
                        call.last_event_id.empty() ? parameter(call, "after") : call.last_event_id,
                        job_store_.epoch()),
                    .until_idle = parameter(call, "until") == "idle"};
  return reply;
}

std::string Service::next_events(StreamRequest& stream, Milliseconds patience) {
  constexpr int at_once = 100;
  const Deadline deadline = Deadline::after(patience);
  while (true) {
    const std::uint64_t seen = job_store_.changes();  // before the stop, which is a change
    if (stopping_.stop_requested()) return {};
    // Asked first: what is concluded in between is then among the events.
    const auto awaited = job_store_.awaited_by(stream.client);
    const auto events = job_store_.events(stream.client, stream.after, at_once);
    if (!events || !awaited) return {};
    std::string text;
    for (const VerdictEvent& event : *events) {
      text += fmt::format("id: {}-{}\nevent: verdict\ndata: {{\"id\":\"{}\",\"verdict\":{}}}\n\n",
                          job_store_.epoch(), event.number, event.job, event.verdict);
      stream.after = event.number;
    }
    if (!text.empty()) return text;
    if (stream.until_idle && *awaited == 0) return {};
    if (deadline.passed()) return ": still here\n\n";
    job_store_.wait_for_change(seen, deadline);
  }
}

HttpReply Service::status() const {
  const JobStore::Counts counts = job_store_.counts();
  Json queued = Json::object();
  for (const auto& [priority, count] : counts.queued)
    queued[std::string(name_of(priority))] = count;
  const std::string trouble = dispatcher_.trouble();
  return json_reply(200, {{"queued", std::move(queued)},
                          {"running", counts.running},
                          {"limit", counts.limit},
                          {"streams", metrics_.streams()},
                          {"works", trouble.empty()},
                          {"trouble", trouble}});
}

HttpReply Service::health() const {
  const std::string trouble = dispatcher_.trouble();
  return json_reply(trouble.empty() ? 200 : 503,
                    {{"status", trouble.empty() ? "healthy" : "unhealthy"}, {"trouble", trouble}});
}

HttpReply Service::evaluate(const HttpCall& call) {
  const auto request = parse_kernelgym_request(call.body, limits_);
  if (!request) return error_reply(422, "VALIDATION_ERROR", request.error().message);
  const std::string name = api::job_name(request->submission);
  const auto submitted = job_store_.submit({&request->submission, 1});
  if (!submitted) return internal_error(submitted.error());
  if (std::holds_alternative<JobStoreFull>(*submitted))
    return error_reply(429, "RESOURCE_ERROR", "too many jobs are unfinished; try again later");
  const JobView& entered = std::get<std::vector<JobView>>(*submitted).front();
  metrics_.count_submission(1, entered.state == JobState::queued ? 0 : 1);
  for (const std::string& alias : aliases_of(*request))
    if (const auto known = job_store_.remember_alias(alias, name); !known)
      return internal_error(known.error());
  // A little longer than the job's own deadline, which ends it with a verdict.
  const auto job = await(name, request->timeout_seconds + 2);
  if (!job) return internal_error(job.error());
  if (!*job) return error_reply(404, "SYSTEM_ERROR", "the job was forgotten");
  return json_reply(200, kernelgym_response(request->task_id, **job, request->reference));
}

HttpReply Service::kernelgym_lookup(const HttpCall& call) {
  const bool wants_status = call.path.starts_with("/status/");
  const std::string task_id = call.path.substr(call.path.rfind('/') + 1);
  const auto name = job_store_.find_alias(task_id);
  if (!name) return internal_error(name.error());
  const auto job = job_store_.find(*name);
  if (!job) return internal_error(job.error());
  if (!*job) return error_reply(404, "unknown_task", "no task with this task_id");
  if (wants_status) return json_reply(200, kernelgym_status(task_id, **job));
  const auto compiled = job_store_.find_alias(compiled_alias(task_id));
  if (!compiled) return internal_error(compiled.error());
  const auto reference =
      *compiled == *name ? ReferenceBackend::torch_compile : ReferenceBackend::eager;
  return json_reply(200, kernelgym_response(task_id, **job, reference));
}

}  // namespace tritonsmith::gym::service
