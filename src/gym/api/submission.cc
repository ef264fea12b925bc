#include "gym/api/submission.h"

#include <algorithm>

#include "base/config.h"
#include "base/hash.h"

namespace tritonsmith::gym::api {
namespace {

constexpr int kProtocolVersion = 1;
constexpr int kMostTrials = 1000;
constexpr double kLongestDeadline = 7 * 24 * 3600.0;
constexpr std::size_t kLongestName = 100;

// Refuses unknown members: a job with a misspelt `policy` would be judged under another policy. The
// task may have all members that a line of a suite has.
Status check_members(const Json& json) {
  static const std::vector<std::string> known = {
      "task",   "kernel", "policy",           "backend",   "comparison", "trials", "priority",
      "client", "fresh",  "deadline_seconds", "baselines", "device",     "strides"};
  for (const auto& [name, value] : json.items())
    if (std::ranges::find(known, name) == known.end())
      return fail("unknown member '{}' of the job; {}", name, suggestion(name, known));
  return ok();
}

bool is_device_class(std::string_view text) {
  return text.size() <= kLongestName && std::ranges::all_of(text, [](char c) {
           return c == ' ' || is_client_name(std::string_view(&c, 1));
         });
}

Status check(const Submission& submission, const SubmissionLimits& limits) {
  const JudgeJob& job = submission.job;
  if (job.task.source.empty()) return fail("task.source is empty");
  if (job.kernel.empty()) return fail("kernel is empty");
  for (const std::string* source : {&job.task.source, &job.kernel})
    if (source->size() > limits.source_bytes)
      return fail("{} has {} bytes, at most {} are taken",
                  source == &job.kernel ? "kernel" : "task.source", source->size(),
                  limits.source_bytes);
  if (job.trials < 1 || job.trials > kMostTrials)
    return fail("trials must lie between 1 and {}", kMostTrials);
  TRY(check_job(job));
  if (submission.deadline_seconds &&
      !(*submission.deadline_seconds > 0 && *submission.deadline_seconds <= kLongestDeadline))
    return fail("deadline_seconds must be positive and at most {}", kLongestDeadline);
  if (!is_device_class(job.device))
    return fail("device is up to {} letters, digits, spaces, '.', '_' and '-'", kLongestName);
  for (const std::string* name : {&submission.client, &submission.fresh})
    if (!name->empty() && !is_client_name(*name))
      return fail("client and fresh are up to {} letters, digits, '.', '_' and '-'", kLongestName);
  return ok();
}

}  // namespace

bool is_client_name(std::string_view name) {
  const auto fits = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
           c == '_' || c == '-';
  };
  return !name.empty() && name.size() <= kLongestName && std::ranges::all_of(name, fits);
}

std::string device_class(const JudgeJob& job) {
  if (!job.device.empty()) return job.device;
  return job.backend == Backend::replay ? "gpu" : "";
}

std::string job_name(const Submission& submission) {
  const JudgeJob& job = submission.job;
  // A JSON array quotes its members, so that no two jobs run into each other.
  Json parts = {kProtocolVersion,
                job.task.source,
                job.task.tolerance ? Json(*job.task.tolerance) : Json(),
                job.kernel,
                name_of(job.policy),
                name_of(job.backend),
                job.trials,
                submission.fresh};
  // Jobs of the default comparison keep the names that they had before other comparisons existed.
  if (job.comparison != Comparison::budget) parts.push_back(name_of(job.comparison));
  if (!job.baselines.empty()) parts.push_back({{"baselines", job.baselines}});
  if (!job.device.empty()) parts.push_back({{"device", job.device}});
  if (job.strides != Strides::any) parts.push_back({{"strides", name_of(job.strides)}});
  constexpr std::size_t digits = 40;
  return content_key(to_line(parts)).substr(0, digits);
}

Json to_json(const Submission& submission) {
  const JudgeJob& job = submission.job;
  Json task = {{"id", job.task.id}, {"source", job.task.source}};
  if (job.task.tolerance) task["tolerance"] = *job.task.tolerance;
  Json json = {{"task", std::move(task)},
               {"kernel", job.kernel},
               {"policy", name_of(job.policy)},
               {"comparison", name_of(job.comparison)},
               {"backend", name_of(job.backend)},
               {"trials", job.trials},
               {"priority", name_of(submission.priority)}};
  if (!job.baselines.empty()) json["baselines"] = job.baselines;
  if (!job.device.empty()) json["device"] = job.device;
  if (job.strides != Strides::any) json["strides"] = name_of(job.strides);
  if (submission.deadline_seconds) json["deadline_seconds"] = *submission.deadline_seconds;
  if (!submission.client.empty()) json["client"] = submission.client;
  if (!submission.fresh.empty()) json["fresh"] = submission.fresh;
  return json;
}

Result<Submission> submission_from_json(const Json& json, const SubmissionLimits& limits) {
  if (!json.is_object()) return fail("a job must be an object");
  TRY(check_members(json));
  JsonReader reader(json);
  Submission submission;
  JudgeJob& job = submission.job;
  JsonReader task(reader.object("task"));
  job.task.id = task.string("id", "task");
  job.task.source = task.string("source");
  if (task.has("tolerance")) job.task.tolerance = task.number("tolerance");
  job.kernel = reader.string("kernel");
  job.policy = reader.enumerated("policy", std::optional(Policy::strict));
  job.comparison = reader.enumerated("comparison", std::optional(limits.comparison));
  job.strides = reader.enumerated("strides", std::optional(Strides::any));
  job.backend = reader.enumerated("backend", std::optional(Backend::automatic));
  job.device = reader.string("device", "");
  if (reader.has("baselines")) job.baselines = reader.strings("baselines");
  const std::int64_t trials = reader.integer("trials", 3);
  submission.priority = reader.enumerated("priority", std::optional(Priority::normal));
  if (reader.has("deadline_seconds"))
    submission.deadline_seconds = reader.number("deadline_seconds");
  submission.client = reader.string("client", "");
  submission.fresh = reader.string("fresh", "");
  TRY(reader.status());
  TRY_WITHIN("task", task.status());
  job.trials = static_cast<int>(std::clamp<std::int64_t>(trials, 0, kMostTrials + 1));
  job.use_store = submission.fresh.empty();
  TRY(check(submission, limits));
  return submission;
}

Result<SubmissionBody> parse_submission_body(std::string_view body,
                                             const SubmissionLimits& limits) {
  TRY_ASSIGN(Json json, parse_json(body));
  SubmissionBody parsed;
  if (!json.is_object()) return fail("the body must be an object: a job, or {{\"jobs\": [...]}}");
  parsed.is_batch = json.contains("jobs");
  if (!parsed.is_batch) {
    TRY_ASSIGN(Submission one, submission_from_json(json, limits));
    parsed.submissions.push_back(std::move(one));
    return parsed;
  }
  const Json jobs = std::move(json["jobs"]);
  if (!jobs.is_array() || jobs.empty()) return fail("jobs must be a list with at least one job");
  if (jobs.size() > limits.batch)
    return fail("{} jobs at once, at most {} are taken", jobs.size(), limits.batch);
  json.erase("jobs");
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    Json merged = json;  // a member of the job itself overrides one that applies to all jobs
    if (jobs[i].is_object()) merged.update(jobs[i]);
    auto one = submission_from_json(jobs[i].is_object() ? merged : jobs[i], limits);
    if (!one) return tl::unexpected(one.error().within(fmt::format("jobs[{}]", i)));
    bytes += one->job.task.source.size() + one->job.kernel.size();
    if (bytes > limits.batch_bytes)
      return fail("the jobs have more than {} bytes of tasks and kernels; send fewer at once",
                  limits.batch_bytes);
    parsed.submissions.push_back(*std::move(one));
  }
  return parsed;
}

}  // namespace tritonsmith::gym::api
