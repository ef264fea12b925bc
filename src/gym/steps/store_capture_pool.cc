#include "gym/steps/store_capture_pool.h"

#include <random>

#include "base/json.h"
#include "base/log.h"
#include "gym/service/redis/sealed_text.h"

namespace tritonsmith::gym::steps {
namespace {

std::uint64_t random_number() {
  std::random_device device;
  return std::uint64_t{device()} << 32 | device();
}

std::string random_name() {
  return fmt::format("{:016x}{:016x}", random_number(), random_number());
}

}  // namespace

StoreCapturePool::StoreCapturePool(StoreCaptureConfig config)
    : config_(std::move(config)),
      mark_(random_number()),
      queue_(config_.queue),
      thread_([this](const std::stop_token& stop) { run(stop); }) {}

StoreCapturePool::~StoreCapturePool() {
  thread_.request_stop();
  queue_.notify();
  thread_.join();
  fail_all("the judge was shut down");
}

std::uint64_t StoreCapturePool::capture(capture::CaptureRequest request, CaptureDone done) {
  return add(std::move(request), std::move(done));
}

// The capturing hosts serve jobs round-robin at their compilers, by number.
std::uint64_t StoreCapturePool::compile(compile::CompileRequest request, CompileDone done) {
  constexpr std::uint64_t largest = std::uint64_t{1} << 62;
  if (request.job != 0) request.job = (request.job + mark_) % largest;
  return add(std::move(request), std::move(done));
}

std::uint64_t StoreCapturePool::add(StepRequest request,
                                    std::variant<CaptureDone, CompileDone> done) {
  std::uint64_t id = 0;
  {
    const std::lock_guard lock(mutex_);
    id = next_id_++;
    std::string shared = shared_name(request);
    steps_.emplace(random_name(), Step{.id = id,
                                       .shared = std::move(shared),
                                       .request = std::move(request),
                                       .done = std::move(done)});
  }
  queue_.notify();
  return id;
}

void StoreCapturePool::cancel(std::uint64_t id) {
  const std::lock_guard lock(mutex_);
  std::erase_if(steps_, [&](const auto& entry) {
    if (entry.second.id != id) return false;
    if (entry.second.is_asked) withdrawn_.push_back(entry.first);
    return true;
  });
}

Result<capture::CapturePool::Versions> StoreCapturePool::versions(Deadline deadline) {
  while (true) {
    const std::uint64_t seen = queue_.changes().changes();
    TRY_ASSIGN(const auto announced, queue_.announcements());
    for (const auto& [host, sealed] : announced) {
      const auto text = service::open_sealed(config_.key, {"announcement", host}, sealed);
      if (!text) {
        LOG("gym: {}", text.error().message);
        continue;
      }
      TRY_ASSIGN(const Json json, parse_json(*text));
      TRY_ASSIGN(const HostVersions versions, host_versions_from_json(json));
      TRY(check_versions(versions));
      return Versions{.torch = versions.torch, .triton = versions.triton};
    }
    if (deadline.passed())
      return fail_by_fault(
          "no host captures; start one with `tritonsmith gym work --role capture`");
    queue_.changes().wait_for_change(seen, deadline);
  }
}

Status StoreCapturePool::check_versions(const HostVersions& theirs) {
  const std::lock_guard lock(mutex_);
  if (!versions_) versions_ = theirs;
  if (versions_->torch == theirs.torch && versions_->triton == theirs.triton) return ok();
  return fail_by_fault("{} has torch {} and triton {}, but {} has {} and {}; let all be alike",
                       theirs.host, theirs.torch, theirs.triton, versions_->host, versions_->torch,
                       versions_->triton);
}

void StoreCapturePool::run(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    const std::uint64_t seen = queue_.changes().changes();
    if (const Status advanced = advance(); !advanced) fail_all(advanced.error().message);
    if (stop.stop_requested()) return;
    queue_.changes().wait_for_change(seen, Deadline::after(std::chrono::seconds(1)));
  }
}

Status StoreCapturePool::advance() {
  TRY(ask_for_new());
  return collect();
}

Status StoreCapturePool::ask_for_new() {
  std::vector<AskedStep> fresh;
  std::vector<std::string> withdrawn;
  {
    const std::lock_guard lock(mutex_);
    withdrawn = std::exchange(withdrawn_, {});
    for (auto& [name, step] : steps_) {
      if (std::exchange(step.is_asked, true)) continue;
      fresh.push_back({.name = name,
                       .shared = step.shared,
                       .request = service::seal(config_.key, {"request", name},
                                                to_line(to_json(step.request)))});
    }
  }
  for (const std::string& name : withdrawn) TRY(queue_.withdraw(name));
  for (const AskedStep& step : fresh) {
    TRY_ASSIGN(const auto known, queue_.ask(step));
    if (known) take_reply(step.name, "shared reply", step.shared, *known);
  }
  return ok();
}

std::vector<std::string> StoreCapturePool::asked_names() const {
  const std::lock_guard lock(mutex_);
  std::vector<std::string> names;
  for (const auto& [name, step] : steps_)
    if (step.is_asked) names.push_back(name);
  return names;
}

Status StoreCapturePool::collect() {
  const std::vector<std::string> names = asked_names();
  if (names.empty()) {
    since_host_.reset();
    return ok();
  }
  TRY_ASSIGN(const Collected collected, queue_.collect(names));
  for (const auto& [name, sealed] : collected.replies) take_reply(name, "reply", name, sealed);
  for (const std::string& name : collected.lost)
    if (auto step = remove(name)) fail(*std::move(step), "the store has lost a step of the job");
  if (collected.hosts > 0 || !since_host_) since_host_.emplace();
  if (since_host_->seconds() < std::chrono::duration<double>(config_.patience).count()) return ok();
  return fail_by_fault("no host captures; start one with `tritonsmith gym work --role capture`");
}

std::optional<StoreCapturePool::Step> StoreCapturePool::remove(const std::string& name) {
  const std::lock_guard lock(mutex_);
  const auto at = steps_.find(name);
  if (at == steps_.end()) return std::nullopt;
  std::optional<Step> step(std::move(at->second));
  steps_.erase(at);
  return step;
}

void StoreCapturePool::take_reply(const std::string& name, const std::string& purpose,
                                  const std::string& sealed_as, const std::string& sealed) {
  auto step = remove(name);
  if (!step) return;
  const auto reply = [&]() -> Result<StepReply> {
    TRY_ASSIGN(const std::string text,
               service::open_sealed(config_.key, {purpose, sealed_as}, sealed));
    TRY_ASSIGN(const Json json, parse_json(text));
    TRY_ASSIGN(StepReply read, step_reply_from_json(json));
    TRY(check_versions(read.versions));
    return read;
  }();
  if (!reply) {
    LOG("gym: {}", reply.error().message);
    return fail(*std::move(step), reply.error().message);
  }
  const auto* captured = std::get_if<capture::CaptureOutcome>(&reply->outcome);
  const auto* compiled = std::get_if<compile::CompileOutcome>(&reply->outcome);
  if (const auto* done = std::get_if<CaptureDone>(&step->done);
      done != nullptr && captured != nullptr)
    return (*done)(*captured);
  if (const auto* done = std::get_if<CompileDone>(&step->done);
      done != nullptr && compiled != nullptr)
    return (*done)(*compiled);
  fail(*std::move(step), reply->versions.host + " answered a step of another kind");
}

void StoreCapturePool::fail(Step step, const std::string& why) {
  const sandbox::InfrastructureFault fault{why};
  if (const auto* done = std::get_if<CaptureDone>(&step.done)) (*done)({.result = fault});
  if (const auto* done = std::get_if<CompileDone>(&step.done)) (*done)({.result = fault});
}

void StoreCapturePool::fail_all(const std::string& why) {
  std::map<std::string, Step> steps;
  {
    const std::lock_guard lock(mutex_);
    steps = std::exchange(steps_, {});
  }
  for (auto& [name, step] : steps) fail(std::move(step), why);
}

}  // namespace tritonsmith::gym::steps
