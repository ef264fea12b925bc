#include "gym/service/redis/redis_job_store.h"

#include <random>

#include "base/log.h"
#include "gym/service/redis/redis_scripts.h"
#include "gym/service/stored_submission.h"

namespace tritonsmith::gym::service {
namespace {

namespace scripts = redis_scripts;

constexpr std::size_t kViewValues = 6;

std::string random_name() {
  std::random_device device;
  return fmt::format("{:08x}{:08x}", device(), device());
}

std::vector<std::string> texts_of(const RedisReply& reply) {
  std::vector<std::string> texts;
  for (std::size_t k = 0; k < reply.size(); ++k) texts.push_back(reply.text_at(k));
  return texts;
}

std::vector<std::string> channels_of(const RedisJobStoreConfig& config) {
  std::vector<std::string> channels;
  if (config.waits_for != WaitsFor::verdicts) channels.push_back(config.prefix + "work");
  if (config.waits_for != WaitsFor::work) channels.push_back(config.prefix + "verdicts");
  return channels;
}

bool is_final(const Verdict& verdict) { return verdict.fault != Fault::infrastructure; }

// A server may forbid CONFIG. Then its operator has to know.
void warn_unless_durable(RedisClient& client, const RedisAddress& address) {
  const auto setting = [&](std::string_view name) {
    const auto reply = client.command({"CONFIG", "GET", name});
    return reply && reply->size() == 2 ? reply->text_at(1) : std::string();
  };
  const std::string append = setting("appendonly"), sync = setting("appendfsync");
  if (append.empty() || (append == "yes" && sync == "always")) return;
  LOG("gym: {}: appendonly is {} and appendfsync is {}; a crash of the server may lose jobs, "
      "unless they are yes and always",
      address.name(), append, sync);
}

// Reads a job from a reply that has its values from `first` on.
Result<JobView> view_at(const RedisReply& reply, std::size_t first, const VerdictSeal& seal) {
  TRY_ASSIGN(const JobState state, enum_from_name<JobState>(reply.text_at(first + 1)));
  JobView view{.name = reply.text_at(first),
               .state = state,
               .submitted_ms = reply.integer_at(first + 3),
               .finished_ms = reply.integer_at(first + 4),
               .doubt = reply.text_at(first + 5)};
  TRY_ASSIGN(view.verdict, seal.opened(view.name, reply.text_at(first + 2)));
  return view;
}

// The first argument of most scripts.
std::string time_of(const RedisJobStoreConfig& config) {
  return config.now ? std::to_string(config.now()) : "";
}

// The time, the lease's worker, its span and, after `between`, the jobs that it holds.
std::vector<std::string> lease_arguments(const RedisJobStoreConfig& config, const Lease& lease,
                                         const HeldJobs& held,
                                         const std::vector<std::string>& between = {}) {
  std::vector<std::string> arguments = {time_of(config), lease.worker,
                                        std::to_string(lease.span.count())};
  arguments.insert(arguments.end(), between.begin(), between.end());
  const std::vector<std::string> names = held.of(lease.worker);
  arguments.insert(arguments.end(), names.begin(), names.end());
  return arguments;
}

}  // namespace

RedisJobStore::RedisJobStore(RedisJobStoreConfig config)
    : config_(std::move(config)),
      client_(config_.address, config_.prefix, scripts::kCommon, config_.patience),
      gpus_(client_, config_.now),
      aliases_(client_),
      reports_(client_, config_.now),
      listener_(config_.address, channels_of(config_)),
      seal_(config_.verdict_key) {}

Result<std::unique_ptr<RedisJobStore>> RedisJobStore::open(RedisJobStoreConfig config) {
  std::unique_ptr<RedisJobStore> store(new RedisJobStore(std::move(config)));
  TRY_ASSIGN(const RedisReply epoch, store->client_.run(scripts::kEpoch, {random_name()}));
  store->epoch_ = epoch.text();
  warn_unless_durable(store->client_, store->config_.address);
  return store;
}

Result<JobStore::Submitted> RedisJobStore::submit(std::span<const api::Submission> submissions,
                                                  const Submitter& submitter) {
  std::vector<std::string> arguments = {time_of(config_), std::to_string(config_.limits.unfinished),
                                        config_.version, submitter.name,
                                        std::to_string(submitter.unfinished)};
  for (const api::Submission& submission : submissions) {
    const std::optional<Verdict> recalled =
        config_.recall ? config_.recall(submission.job) : std::nullopt;
    const double span_ms = 1e3 * submission.deadline_seconds.value_or(0);
    for (std::string value :
         {api::job_name(submission), to_line(api::to_json(submission)),
          std::to_string(static_cast<int>(submission.priority)),
          std::to_string(static_cast<std::int64_t>(span_ms)), submission.client,
          recalled ? seal_.sealed(api::job_name(submission), *recalled) : std::string(),
          api::device_class(submission.job)})
      arguments.push_back(std::move(value));
  }
  TRY_ASSIGN(const RedisReply reply, client_.run(scripts::kSubmit, arguments));
  const std::string kind = reply.text_at(0);
  if (kind == "gone") return Submitted(ClientGone{reply.text_at(1)});
  if (kind == "full")
    return Submitted(JobStoreFull{.unfinished = static_cast<int>(reply.integer_at(1)),
                                  .limit = static_cast<int>(reply.integer_at(2)),
                                  .submitter = reply.text_at(3)});
  std::vector<JobView> views;
  for (std::size_t first = 1; first < reply.size(); first += kViewValues) {
    TRY_ASSIGN(JobView view, view_at(reply, first, seal_));
    views.push_back(std::move(view));
  }
  return Submitted(std::move(views));
}

Result<std::optional<JobView>> RedisJobStore::find(const std::string& name) {
  TRY_ASSIGN(const RedisReply reply, client_.run(scripts::kFind, {name}));
  if (reply.is_nil()) return std::optional<JobView>();
  TRY_ASSIGN(JobView view, view_at(reply, 0, seal_));
  return std::optional<JobView>(std::move(view));
}

Result<bool> RedisJobStore::cancel(const std::string& name, const std::string& client) {
  TRY_ASSIGN(const RedisReply reply,
             client_.run(scripts::kCancel, {time_of(config_), client, name}));
  return reply.integer() > 0;
}

Status RedisJobStore::cancel_all(const std::string& client) {
  TRY(client_.run(scripts::kCancel, {time_of(config_), client, ""}));
  return ok();
}

Status RedisJobStore::dismiss(const std::string& client) {
  TRY(client_.run(scripts::kDismiss, {time_of(config_), client}));
  return ok();
}

Result<std::vector<VerdictEvent>> RedisJobStore::events(const std::string& client,
                                                        std::int64_t after, int limit) {
  TRY_ASSIGN(const RedisReply reply,
             client_.run(scripts::kEvents, {client, std::to_string(after), std::to_string(limit)}));
  std::vector<VerdictEvent> events;
  for (std::size_t k = 0; k + 2 < reply.size(); k += 3) {
    TRY_ASSIGN(std::string verdict, seal_.opened(reply.text_at(k + 1), reply.text_at(k + 2)));
    events.push_back({.number = reply.integer_at(k),
                      .job = reply.text_at(k + 1),
                      .verdict = std::move(verdict)});
  }
  return events;
}

Result<std::int64_t> RedisJobStore::awaited_by(const std::string& client) {
  TRY_ASSIGN(const RedisReply reply, client_.run(scripts::kAwaited, {client}));
  return reply.integer();
}

Result<JobCounts> RedisJobStore::counts() const {
  TRY_ASSIGN(const RedisReply reply, client_.run(scripts::kCounts, {}));
  JobCounts counts{.running = static_cast<int>(reply.integer_at(3)),
                   .limit = config_.limits.unfinished,
                   .repeated_verdicts = reply.integer_at(4),
                   .quarantined_gpus = static_cast<int>(reply.integer_at(5)),
                   .judged_again = reply.integer_at(6)};
  for (const auto& [priority, name] : enum_names<api::Priority>)
    counts.queued[priority] =
        static_cast<int>(reply.integer_at(static_cast<std::size_t>(priority)));
  return counts;
}

// In parts, so that others come between.
Status RedisJobStore::recall_queued() {
  constexpr std::size_t at_once = 100;
  if (!config_.recall) return ok();
  TRY_ASSIGN(const RedisReply queued, client_.run(scripts::kQueued, {}));
  std::vector<ConcludedJob> recalled;
  for (const std::string& name : texts_of(queued)) {
    TRY_ASSIGN(const RedisReply text, client_.run(scripts::kSubmission, {name}));
    if (text.is_nil()) continue;
    TRY_ASSIGN(const api::Submission submission, parse_stored_submission(text.text()));
    if (auto verdict = config_.recall(submission.job))
      recalled.push_back({name, *std::move(verdict)});
    if (recalled.size() == at_once) TRY(conclude("", std::exchange(recalled, {})));
  }
  return recalled.empty() ? ok() : conclude("", recalled);
}

Result<std::vector<api::Submission>> RedisJobStore::take(const Lease& lease, int most) {
  CHECK(!lease.worker.empty(), "a worker has a name");
  std::vector<std::string> wishes = {std::to_string(++tickets_), std::to_string(most),
                                     std::to_string(lease.devices.size()),
                                     std::to_string(lease.gpus.size())};
  wishes.insert(wishes.end(), lease.devices.begin(), lease.devices.end());
  wishes.insert(wishes.end(), lease.gpus.begin(), lease.gpus.end());
  TRY_ASSIGN(const RedisReply reply,
             client_.run(scripts::kTake, lease_arguments(config_, lease, held_, wishes)));
  std::vector<api::Submission> taken;
  for (std::size_t k = 0; k + 1 < reply.size(); k += 2) {
    TRY_ASSIGN(api::Submission submission, parse_stored_submission(reply.text_at(k + 1)));
    taken.push_back(std::move(submission));
  }
  for (std::size_t k = 0; k < reply.size(); k += 2) held_.add(lease.worker, reply.text_at(k));
  return taken;
}

Status RedisJobStore::renew(const Lease& lease) {
  TRY(client_.run(scripts::kRenew, lease_arguments(config_, lease, held_)));
  return ok();
}

Status RedisJobStore::conclude(const std::string& worker, std::span<const ConcludedJob> concluded) {
  std::vector<std::string> arguments = {time_of(config_), worker, config_.version,
                                        std::to_string(config_.limits.finished)};
  for (const ConcludedJob& one : concluded) {
    arguments.push_back(one.name);
    arguments.push_back(seal_.sealed(one.name, one.verdict));
    arguments.push_back(is_final(one.verdict) ? "1" : "0");
    arguments.push_back(one.gpu);
  }
  TRY(client_.run(scripts::kConclude, arguments));
  for (const ConcludedJob& one : concluded) held_.remove(worker, one.name);
  return ok();
}

// The job's lease ends by itself if the server cannot be reached.
void RedisJobStore::give_back(const std::string& worker, const std::string& name) {
  held_.remove(worker, name);
  const auto given = client_.run(scripts::kGiveBack, {worker, name});
  if (!given) LOG("gym: a job is given back when its lease ends: {}", given.error().message);
}

Result<std::vector<std::string>> RedisJobStore::take_withdrawn(const std::string& worker) {
  TRY_ASSIGN(const RedisReply reply, client_.run(scripts::kWithdrawn, {worker}));
  std::vector<std::string> names = texts_of(reply);
  for (const std::string& name : names) held_.remove(worker, name);
  return names;
}

Result<std::vector<api::Submission>> RedisJobStore::overdue() {
  TRY_ASSIGN(const RedisReply reply, client_.run(scripts::kOverdue, {time_of(config_)}));
  std::vector<api::Submission> late;
  for (const std::string& text : texts_of(reply)) {
    TRY_ASSIGN(api::Submission submission, parse_stored_submission(text));
    late.push_back(std::move(submission));
  }
  return late;
}

}  // namespace tritonsmith::gym::service
