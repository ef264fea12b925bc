#include "gym/steps/capture_host.h"

#include <limits>
#include <random>

#include "base/json.h"
#include "base/log.h"
#include "gym/service/redis/sealed_text.h"

namespace tritonsmith::gym::steps {
namespace {

std::string fresh_name() {
  std::random_device device;
  return fmt::format("host-{:08x}{:08x}", device(), device());
}

}  // namespace

Result<std::unique_ptr<CaptureHost>> CaptureHost::start(StepQueue& queue,
                                                        capture::CapturePool& pool,
                                                        CaptureHostConfig config) {
  TRY_ASSIGN(const auto versions, pool.versions(Deadline::in_seconds(120)));
  HostVersions ours{.host = config.host, .torch = versions.torch, .triton = versions.triton};
  return std::unique_ptr<CaptureHost>(
      new CaptureHost(queue, pool, std::move(config), std::move(ours)));
}

CaptureHost::CaptureHost(StepQueue& queue, capture::CapturePool& pool, CaptureHostConfig config,
                         HostVersions versions)
    : queue_(queue),
      pool_(pool),
      config_(std::move(config)),
      versions_(std::move(versions)),
      name_(fresh_name()),
      done_(std::make_shared<BoundedQueue<Done>>(std::numeric_limits<std::size_t>::max())),
      thread_([this](const std::stop_token& stop) { run(stop); }) {}

// The pool calls back no more once its steps are cancelled; a callback that has begun ends first.
CaptureHost::~CaptureHost() {
  thread_.request_stop();
  queue_.notify();
  thread_.join();
  for (const auto& [name, held] : held_) pool_.cancel(held.pool_id);
}

void CaptureHost::drain(Deadline deadline) {
  std::unique_lock lock(mutex_);
  is_draining_ = true;
  drained_.wait_until(lock, deadline.at(), [&] { return running_ == 0; });
}

int CaptureHost::running() const {
  const std::lock_guard lock(mutex_);
  return running_;
}

std::string CaptureHost::trouble() const {
  const std::lock_guard lock(mutex_);
  if (!trouble_.empty()) return trouble_;
  return is_draining_ ? "it finishes its steps and takes no more" : "";
}

void CaptureHost::set_trouble(std::string why) {
  const std::lock_guard lock(mutex_);
  if (why != trouble_ && !why.empty()) LOG("gym: {}", why);
  trouble_ = std::move(why);
}

void CaptureHost::run(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    const std::uint64_t seen = queue_.changes().changes();
    const Status advanced = advance();
    set_trouble(advanced ? "" : advanced.error().message);
    if (stop.stop_requested()) break;
    if (!advanced || held_.empty())
      queue_.changes().wait_for_change(seen, Deadline::after(std::chrono::seconds(1)));
  }
  // A store that cannot be reached forgets a silent host by itself.
  static_cast<void>(queue_.depart(name_));
}

Status CaptureHost::advance() {
  TRY(keep_lease());
  TRY(take_steps());
  return bring_back();
}

Status CaptureHost::keep_lease() {
  constexpr double a_fraction = 0.2;
  const double span = std::chrono::duration<double>(config_.lease).count();
  if (since_heartbeat_ && since_heartbeat_->seconds() < a_fraction * span) return ok();
  TRY(queue_.announce(name_, config_.lease,
                      service::seal(config_.key, {"announcement", name_}, announcement())));
  since_heartbeat_.emplace();
  return ok();
}

// Returns the text that judges compare, and that an API server lists beside its workers.
std::string CaptureHost::announcement() const {
  Json json = to_json(versions_);
  json.update({{"name", name_},
               {"role", "capture"},
               {"devices", Json::array()},
               {"at_once", config_.at_once},
               {"running", held_.size()},
               {"trouble", trouble()}});
  return to_line(json);
}

Status CaptureHost::take_steps() {
  while (true) {
    {
      const std::lock_guard lock(mutex_);
      running_ = static_cast<int>(held_.size());
      if (running_ == 0) drained_.notify_all();
      if (is_draining_) break;
    }
    if (held_.size() >= config_.at_once) break;
    std::vector<std::string> names;
    for (const auto& [name, held] : held_) names.push_back(name);
    TRY_ASSIGN(const auto step, queue_.take(config_.lease, names));
    if (!step) break;
    hand_over(*step);
  }
  return ok();
}

// A request without a valid seal is passed over: the judge that asked waits for a reply that this
// host could only give to a stranger.
void CaptureHost::hand_over(const TakenStep& step) {
  if (held_.contains(step.name)) return;  // its lease had ended, but not its work
  const auto request = [&]() -> Result<StepRequest> {
    TRY_ASSIGN(const std::string text,
               service::open_sealed(config_.key, {"request", step.name}, step.request));
    TRY_ASSIGN(const Json json, parse_json(text));
    return step_request_from_json(json);
  }();
  if (!request) {
    LOG("gym: {}", request.error().message);
    static_cast<void>(queue_.withdraw(step.name));
    return;
  }
  held_[step.name] = {.shared = step.shared};
  const auto bring = [done = done_, name = step.name](auto outcome) {
    done->push({.name = name, .outcome = std::move(outcome)});
  };
  if (const auto* capturing = std::get_if<capture::CaptureRequest>(&*request))
    held_[step.name].pool_id = pool_.capture(*capturing, bring);
  else
    held_[step.name].pool_id = pool_.compile(std::get<compile::CompileRequest>(*request), bring);
}

Status CaptureHost::bring_back() {
  constexpr auto glance = std::chrono::milliseconds(10);
  if (held_.empty()) return ok();
  Deadline deadline = Deadline::after(glance);
  while (auto done = done_->pop(deadline)) {
    deadline = Deadline::after(std::chrono::nanoseconds(0));
    const Status written = write(*done);
    held_.erase(done->name);  // if it is not written, its lease ends and another host does it again
    TRY(written);
  }
  return ok();
}

Status CaptureHost::write(const Done& done) {
  const std::string reply =
      to_line(to_json(StepReply{.versions = versions_, .outcome = done.outcome}));
  const auto* compiled = std::get_if<compile::CompileOutcome>(&done.outcome);
  const std::string shared = held_.at(done.name).shared;
  const bool is_shared = !shared.empty() && compiled != nullptr &&
                         std::holds_alternative<compile::CompiledKernel>(compiled->result);
  return queue_.finish(
      {.name = done.name,
       .reply = service::seal(config_.key, {"reply", done.name}, reply),
       .shared = shared,
       .shared_reply =
           is_shared ? service::seal(config_.key, {"shared reply", shared}, reply) : ""});
}

}  // namespace tritonsmith::gym::steps
