#include "gym/remote/remote_judge.h"

#include <fmt/ranges.h>
#include <httplib.h>

#include <algorithm>
#include <random>
#include <set>

#include "base/event_stream.h"
#include "base/log.h"
#include "gym/api/token.h"
#include "gym/remote/service_client.h"

namespace tritonsmith::gym::remote {
namespace {

constexpr std::size_t kAtOnce = 64;
constexpr int kConnectSeconds = 5;
constexpr int kReplySeconds = 60;
constexpr int kSilenceSeconds = 30;  // the service gives a sign of life every 5 s

std::string fresh_name() {
  std::random_device device;
  return fmt::format("tritonsmith-{:08x}{:08x}", device(), device());
}

// Returns the service's own message for a refusal.
std::string refusal_of(const httplib::Result& reply) {
  if (!reply)
    return fmt::format("no answer (error: {}); is `tritonsmith gym serve` running there?",
                       httplib::to_string(reply.error()));
  const auto json = parse_json(reply->body);
  const bool typed = json && json->is_object() && json->contains("error") &&
                     (*json)["error"].is_object() && (*json)["error"].contains("message") &&
                     (*json)["error"]["message"].is_string();
  return fmt::format("HTTP status {}{}", reply->status,
                     typed ? ": " + (*json)["error"]["message"].get<std::string>() : "");
}

// Says whether the status is final, so that a repeated request would fail too.
bool is_final(int status) {
  return status >= 400 && status < 500 && status != 429 && status != 408;
}

void set_timeouts(httplib::Client& http, int read_seconds) {
  http.set_connection_timeout(kConnectSeconds);
  http.set_read_timeout(read_seconds);
  http.set_write_timeout(kReplySeconds);
}

// The devices of the workers that judge, as the service's status names them.
struct JudgingDevices {
  bool are_known = false;              // the service has such a worker
  std::set<std::string> classes;       // of JudgeJob::device
  std::map<std::string, int> by_kind;  // how many GPUs of each name
};

// Says whether the class is the name of a GPU.
bool is_kind(const std::string& device) {
  return device != "cpu" && device != "gpu" && !device.starts_with("sm_");
}

JudgingDevices judging_devices(const Json& status) {
  JsonReader reader(status);
  JudgingDevices there;
  for (const Json& each : reader.array("workers")) {
    JsonReader worker(each);
    if (worker.string("role", "all") == "capture") continue;
    there.are_known = true;
    const int gpus = std::max(1, static_cast<int>(worker.strings("gpus").size()));
    for (const std::string& name : worker.strings("devices")) {
      there.classes.insert(name);
      if (is_kind(name)) there.by_kind[name] += gpus;
    }
  }
  return there;
}

// Fails if none of the devices is of the class.
Status check_device(const JudgingDevices& there, const std::string& device,
                    const std::string& url) {
  if (!there.are_known || there.classes.contains(device)) return ok();
  return fail("the gym at {} has no device of class `{}`: it has {}", url, device,
              there.classes.empty() ? "none that it names"
                                    : fmt::format("{}", fmt::join(there.classes, ", ")));
}

// Returns the kind of which there are most GPUs, the first by name among equals. Returns nothing if all
// GPUs are of one kind.
std::string most_common_kind(const JudgingDevices& there, const std::string& url) {
  if (there.by_kind.size() < 2) return {};
  const auto most =
      std::ranges::max_element(there.by_kind, {}, [](const auto& kind) { return kind.second; });
  std::vector<std::string> kinds;
  for (const auto& [name, count] : there.by_kind)
    kinds.push_back(fmt::format("{} {}", count, name));
  LOG("the gym at {} has {}. Speed-ups of different GPUs do not compare, so only {} judges; "
      "--gym-device or "
      "judge.device asks for another class, `gpu` for all",
      url, fmt::join(kinds, " and "), most->first);
  return most->first;
}

}  // namespace

Fields<RemoteJudgeConfig> RemoteJudgeConfig::fields() {
  using C = RemoteJudgeConfig;
  return {
      field("url", &C::url,
            "The address of the `gym serve` that judges, http://HOST:PORT. Empty: this machine "
            "judges."),
      field("token_file", &C::token_file,
            "The file of the service's token. Empty: $TRITONSMITH_GYM_TOKEN."),
      field("device", &C::device,
            "The class of devices that judge our jobs: NVIDIA H200, sm_90, gpu or cpu. Empty: any, "
            "but "
            "only one kind of GPU, the one of which there are most."),
      field("priority", &C::priority,
            "The priority of our jobs at the service: high, normal or low."),
      field("patience_seconds", &C::patience_seconds,
            "A service that is away for this long counts as gone.", at_least(0.0)),
      field("queue", &C::queue, "How many jobs may be unfinished.", between(1, 1 << 20)),
  };
}

Result<std::unique_ptr<api::Judge>> RemoteJudge::open(const RemoteJudgeConfig& config) {
  TRY_ASSIGN(const api::ServiceUrl service, api::service_url(config.url, config.token_file));
  RemoteJudgeConfig without_token = config;
  without_token.url = service.url;
  TRY_ASSIGN(auto sending, service_client(service));
  TRY_ASSIGN(auto listening, service_client(service));
  set_timeouts(*sending, kReplySeconds);
  set_timeouts(*listening, kSilenceSeconds);
  std::unique_ptr<RemoteJudge> judge(
      new RemoteJudge(std::move(without_token), std::move(sending), std::move(listening)));
  const auto reply = judge->sending_->Get("/v1/status");
  if (!reply || reply->status != 200) {
    const Error refused{
        fmt::format("the gym at {} does not serve us: {}", service.url, refusal_of(reply))};
    return tl::unexpected(reply && is_final(reply->status) ? refused : refused.as_fault());
  }
  TRY_ASSIGN(const Json status, parse_json(reply->body));
  const JudgingDevices there = judging_devices(status);
  if (config.device.empty())
    judge->kind_ = most_common_kind(there, service.url);
  else
    TRY(check_device(there, config.device, service.url));
  judge->sender_ =
      std::jthread([self = judge.get()](const std::stop_token& stop) { self->send(stop); });
  judge->listener_ =
      std::jthread([self = judge.get()](const std::stop_token& stop) { self->listen(stop); });
  return std::unique_ptr<api::Judge>(std::move(judge));
}

RemoteJudge::RemoteJudge(RemoteJudgeConfig config, Client sending, Client listening)
    : config_(std::move(config)),
      client_(fresh_name()),
      sending_(std::move(sending)),
      listening_(std::move(listening)),
      last_heard_(system_clock().now()) {}

RemoteJudge::~RemoteJudge() {
  sender_.request_stop();
  listener_.request_stop();
  sending_->stop();
  listening_->stop();
  if (sender_.joinable()) sender_.join();
  if (listener_.joinable()) listener_.join();
  if (waiting_.empty()) return;
  // The service refuses this client's later submissions too: it may still read one that
  // stop() cut short.
  sending_->set_read_timeout(2);
  const auto ignored = sending_->Delete("/v1/clients/" + client_);
  static_cast<void>(ignored);
}

Status RemoteJudge::submit(api::JudgeJob job) {
  if (!job.ptx.empty() || job.shows_ptx)
    return fail("a gym elsewhere does not judge PTX: leave --gym out, on a machine with a GPU");
  if (job.device.empty()) job.device = config_.device;
  if (job.device.empty() && job.backend != Backend::evaluate) job.device = kind_;
  TRY(api::check_job(job));
  TRY(outbox_.enter(static_cast<std::size_t>(config_.queue)));
  const std::lock_guard lock(mutex_);
  const std::uint64_t id = job.id;
  Waiting entry{
      .submission = {.job = std::move(job), .priority = config_.priority, .client = client_}};
  if (!entry.submission.job.use_store)
    entry.submission.fresh = fmt::format("{}-{}", client_, ++marks_);
  entry.name = api::job_name(entry.submission);
  by_name_.emplace(entry.name, id);
  const bool is_new = waiting_.emplace(id, std::move(entry)).second;
  CHECK(is_new, "two jobs in flight have the id {}", id);
  unsent_.push_back(id);
  changed_.notify_all();
  return ok();
}

Result<std::optional<api::Judged>> RemoteJudge::next(Deadline deadline) {
  return outbox_.take(deadline);
}

void RemoteJudge::cancel(std::uint64_t id) {
  const std::lock_guard lock(mutex_);
  const auto at = waiting_.find(id);
  if (at == waiting_.end()) return;
  const std::string name = at->second.name;
  waiting_.erase(at);
  const auto [begin, end] = by_name_.equal_range(name);
  by_name_.erase(std::find_if(begin, end, [&](const auto& entry) { return entry.second == id; }));
  if (!by_name_.contains(name)) unwanted_.push_back(name);
  outbox_.drop();
  changed_.notify_all();
}

// Sends cancellations first, then returns the ids of the jobs to post.
std::vector<std::uint64_t> RemoteJudge::wait_for_work(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, stop, [this] { return !unsent_.empty() || !unwanted_.empty(); });
  if (stop.stop_requested()) return {};
  const auto unwanted = std::exchange(unwanted_, {});
  std::vector<std::uint64_t> ids;
  std::size_t taken = 0;
  for (; taken < unsent_.size() && ids.size() < kAtOnce; ++taken)
    if (waiting_.contains(unsent_[taken])) ids.push_back(unsent_[taken]);
  unsent_.erase(unsent_.begin(), unsent_.begin() + static_cast<std::ptrdiff_t>(taken));
  lock.unlock();
  for (const std::string& name : unwanted) {
    // If this fails, the job is judged in vain, which does no harm.
    const auto ignored = sending_->Delete("/v1/jobs/" + name + "?client=" + client_);
    static_cast<void>(ignored);
  }
  return ids;
}

void RemoteJudge::send(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    const auto ids = wait_for_work(stop);
    if (ids.empty()) continue;
    for (int attempt = 1; !post(ids); ++attempt)
      if (!rest(stop, attempt, 0.1)) return;
  }
}

bool RemoteJudge::post(const std::vector<std::uint64_t>& ids) {
  Json jobs = Json::array();
  {
    const std::lock_guard lock(mutex_);
    for (const std::uint64_t id : ids)
      if (const auto at = waiting_.find(id); at != waiting_.end())
        jobs.push_back(api::to_json(at->second.submission));
  }
  if (jobs.empty()) return true;
  const auto reply =
      sending_->Post("/v1/jobs", to_line({{"jobs", std::move(jobs)}}), "application/json");
  if (reply && is_final(reply->status)) {
    outbox_.break_down(
        {fmt::format("the gym at {} refuses jobs: {}", config_.url, refusal_of(reply))});
    return true;
  }
  if (reply && (reply->status == 429 || reply->status == 202)) {
    const std::lock_guard lock(mutex_);
    last_heard_ = system_clock().now();
  }
  return reply && reply->status == 202;
}

void RemoteJudge::listen(const std::stop_token& stop) {
  std::string last_event;
  for (int attempt = 0; !stop.stop_requested(); ++attempt) {
    int status = 0;
    EventStreamReader reader([&](const ServerEvent& event) {
      if (event.type == "verdict") take_event(event.data);
      if (!event.id.empty()) last_event = event.id;
    });
    httplib::Headers headers;
    if (!last_event.empty()) headers.emplace("Last-Event-ID", last_event);
    const auto reply = listening_->Get(
        "/v1/verdicts?client=" + client_, headers,
        [&](const httplib::Response& response) {
          status = response.status;
          if (status == 200) send_again();
          return status == 200;
        },
        [&](const char* data, std::size_t length) {
          attempt = 0;
          {
            const std::lock_guard lock(mutex_);
            last_heard_ = system_clock().now();
          }
          return !stop.stop_requested() && reader.feed({data, length}).has_value();
        });
    if (is_final(status)) {
      outbox_.break_down(
          {fmt::format("the gym at {} gives no verdicts: HTTP status {}", config_.url, status)});
      return;
    }
    if (!rest(stop, attempt + 1, 0.1)) return;
  }
}

// Sends all jobs without a verdict again: the service may have been away, and may even have
// forgotten this client.
void RemoteJudge::send_again() {
  const std::lock_guard lock(mutex_);
  for (const auto& [id, entry] : waiting_)
    if (std::ranges::find(unsent_, id) == unsent_.end()) unsent_.push_back(id);
  changed_.notify_all();
}

void RemoteJudge::take_event(const std::string& data) {
  const auto json = parse_json(data);
  if (!json || !json->is_object() || !json->contains("id") || !(*json)["id"].is_string() ||
      !json->contains("verdict"))
    return;
  auto verdict = verdict_from_json((*json)["verdict"]);
  if (!verdict) {
    outbox_.break_down(verdict.error().within("the gym sent a verdict that is none"));
    return;
  }
  const std::lock_guard lock(mutex_);
  const auto [begin, end] = by_name_.equal_range((*json)["id"].get<std::string>());
  for (auto at = begin; at != end; ++at) {
    Verdict own = *verdict;
    const auto waiting = waiting_.find(at->second);
    own.task_id = waiting->second.submission.job.task.id;
    own.from_store = own.from_store || at != begin;
    waiting_.erase(waiting);
    outbox_.deliver({at->second, std::move(own), at->first});
  }
  by_name_.erase(begin, end);
}

bool RemoteJudge::rest(const std::stop_token& stop, int attempt, double first_seconds) {
  constexpr double longest = 5;
  const double seconds =
      std::min(longest, first_seconds * static_cast<double>(1 << std::min(attempt, 8)));
  std::unique_lock lock(mutex_);
  const double silence = std::chrono::duration<double>(system_clock().now() - last_heard_).count();
  if (silence > config_.patience_seconds && !waiting_.empty()) {
    outbox_.break_down(
        {fmt::format("the gym at {} has been away for {:.0f} s", config_.url, silence)});
    return false;
  }
  changed_.wait_for(lock, stop, std::chrono::duration<double>(seconds), [] { return false; });
  return !stop.stop_requested();
}

}  // namespace tritonsmith::gym::remote
