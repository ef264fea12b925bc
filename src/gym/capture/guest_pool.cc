#include "gym/capture/guest_pool.h"

#include <algorithm>
#include <array>

#include "base/check.h"
#include "base/clock.h"

namespace tritonsmith::gym::capture {
namespace {

constexpr int kRequestsOfGuest = 100;  // each leaves a megabyte or two of objects behind

std::string request_text(const CaptureRequest& request) {
  Json json = {{"role", request.role == CaptureRole::task ? "task" : "candidate"},
               {"source", request.source},
               {"path", request.path},
               {"target", request.target},
               {"first_call_only", request.first_call_only},
               {"in_eval_mode", request.in_eval_mode},
               {"ignores_mode", request.ignores_mode}};
  std::string text = to_line(json);
  text.pop_back();  // the JSON values are appended as text
  if (!request.init_args_json.empty()) text += ",\"init_args\":" + request.init_args_json;
  if (!request.inputs_json.empty()) text += ",\"inputs\":" + request.inputs_json;
  if (!request.tensors_json.empty()) text += ",\"tensors\":" + request.tensors_json;
  if (!request.known_json.empty()) text += ",\"known\":" + request.known_json;
  if (!request.device_json.empty()) text += ",\"device\":" + request.device_json;
  return text + "}";
}

Status check_values(const CaptureRequest& request) {
  for (const auto* text : {&request.init_args_json, &request.inputs_json, &request.tensors_json,
                           &request.known_json, &request.device_json})
    if (!text->empty() && !Json::accept(*text))
      return fail("the values of a capture request are no JSON");
  return ok();
}

}  // namespace

GuestPool::GuestPool(const CaptureConfig& config)
    : limits_{.output_bytes = static_cast<std::size_t>(config.output_kib) << 10,
              .frame_bytes = static_cast<std::size_t>(config.plan_mib) << 20,
              .wall = std::chrono::seconds(config.capture_seconds)},
      tmp_bytes_(static_cast<std::uint64_t>(config.tmp_mib) << 20) {}

Result<GuestPool> GuestPool::make(const CaptureConfig& config) {
  GuestPool pool(config);
  for (int i = 0; i < config.slots; ++i) {
    TRY_ASSIGN(sandbox::SlotUid uid, sandbox::SlotUid::take());
    pool.slots_.push_back(Slot{.uid = std::move(uid)});
  }
  return pool;
}

bool GuestPool::cancel(sandbox::GuestId id, sandbox::Zygote* zygote) {
  const auto waiting =
      std::find_if(queue_.begin(), queue_.end(), [&](const auto& job) { return job.id == id; });
  if (waiting != queue_.end()) {
    queue_.erase(waiting);
    return true;
  }
  for (Slot& slot : slots_) {
    if (slot.phase == Phase::free || slot.phase == Phase::waiting || slot.phase == Phase::over ||
        slot.job.id != id)
      continue;
    if (zygote != nullptr) zygote->kill(slot.guest->id());
    slot.phase = Phase::over;
    slot.reaped_by = Deadline::after(sandbox::kReapTime);
    return true;
  }
  return false;
}

Status GuestPool::advance(sandbox::Zygote& zygote) {
  for (Slot& slot : slots_) {
    if (slot.guest) hear(slot, zygote);
    if ((slot.phase == Phase::over || slot.phase == Phase::waiting) && slot.guest->status()) {
      slot.guest.reset();
      slot.phase = Phase::free;
    }
    if ((slot.phase == Phase::over || slot.phase == Phase::late) && slot.reaped_by.passed())
      return fail("the zygote did not reap a killed guest");
    if (slot.phase == Phase::waiting && !queue_.empty()) serve_next(slot, zygote);
    if (slot.phase == Phase::free && !queue_.empty()) TRY(launch(slot, zygote));
  }
  return ok();
}

// Gives the slot the next job. Returns false if that one cannot run.
bool GuestPool::take_job(Slot& slot) {
  slot.job = std::move(queue_.front());
  queue_.pop_front();
  slot.outcome = {};
  slot.outcome.stage_ms = {{"queue", milliseconds_since(slot.job.submitted)}};
  const Status values = check_values(slot.job.request);
  if (!values) slot.job.done({.result = sandbox::InfrastructureFault{values.error().message}});
  return values.has_value();
}

Status GuestPool::launch(Slot& slot, sandbox::Zygote& zygote) {
  if (!take_job(slot)) return ok();
  auto guest = sandbox::Guest::fork(zygote,
                                    {.role = "capture",
                                     .uid = slot.uid.value(),
                                     .tmp_bytes = tmp_bytes_,
                                     .shared = slot.job.request.shares_guest},
                                    limits_);
  if (!guest) {
    const Error& why = guest.error();
    give_back(std::move(slot.job), why);
    return tl::unexpected<Error>(why);
  }
  slot.guest = std::move(*guest);
  slot.served = 0;
  slot.phase = Phase::greeting;
  return ok();
}

// A job that shares no guest gets a fresh one once the waiting one is gone.
void GuestPool::serve_next(Slot& slot, sandbox::Zygote& zygote) {
  if (!queue_.front().request.shares_guest) return retire(slot, zygote);
  if (!take_job(slot)) return;
  slot.outcome.jail_layers = slot.layers;
  slot.guest->set_time_limit(limits_.wall);
  slot.guest->send(request_text(slot.job.request));
  slot.phase = Phase::capturing;
}

void GuestPool::retire(Slot& slot, sandbox::Zygote& zygote) {
  if (!slot.guest->status()) zygote.kill(slot.guest->id());
  slot.reaped_by = Deadline::after(sandbox::kReapTime);
  slot.phase = Phase::over;
}

// Whether the guest, which has made a plan, serves another request.
bool GuestPool::may_go_on(Slot& slot) {
  return slot.job.request.shares_guest &&
         std::holds_alternative<CapturedPlan>(slot.outcome.result) &&
         ++slot.served < kRequestsOfGuest && !slot.guest->status();
}

void GuestPool::hear(Slot& slot, sandbox::Zygote& zygote) {
  slot.guest->exchange();
  if (slot.phase == Phase::late) {
    if (slot.guest->status()) conclude_late(slot);
    return;
  }
  bool more = slot.phase != Phase::over && slot.phase != Phase::waiting;
  while (more) {
    auto frame = slot.guest->next_frame();
    if (frame) {
      more = take_frame(slot, std::move(*frame));
    } else {
      const sandbox::GuestEnd end = slot.guest->end();
      if (end == sandbox::GuestEnd::running) return;
      if (end == sandbox::GuestEnd::timed_out && slot.phase != Phase::greeting) {
        zygote.kill(slot.guest->id());
        slot.reaped_by = Deadline::after(sandbox::kReapTime);
        slot.phase = Phase::late;
        return;
      }
      if (slot.phase == Phase::greeting)  // no line of the candidate has run yet
        slot.outcome.result = sandbox::InfrastructureFault{
            fmt::format("a guest {} before its jail was closed: {}",
                        sandbox::error_of_end(end, slot.guest->status(), limits_).message,
                        slot.guest->output())};
      else
        slot.outcome.result = sandbox::CandidateFailure{
            .stage = Stage::inspected,
            .error = sandbox::error_of_end(end, slot.guest->status(), limits_),
            .undisturbed = end == sandbox::GuestEnd::ended && slot.guest->ran_out_of_cpu()};
      more = false;
    }
  }
  if (slot.phase == Phase::over || slot.phase == Phase::waiting) return;
  if (may_go_on(slot))
    slot.phase = Phase::waiting;
  else
    retire(slot, zygote);  // its work is done, whatever else it is doing
  slot.outcome.output = slot.guest->output();
  auto* fault = std::get_if<sandbox::InfrastructureFault>(&slot.outcome.result);
  if (fault != nullptr)
    give_back(std::move(slot.job), Error{fault->message});
  else
    give_result(slot);
}

void GuestPool::conclude_late(Slot& slot) const {
  slot.phase = Phase::over;
  slot.outcome.output = slot.guest->output();
  slot.outcome.result = sandbox::CandidateFailure{
      .stage = Stage::inspected,
      .error = sandbox::error_of_end(sandbox::GuestEnd::timed_out, std::nullopt, limits_),
      .undisturbed = slot.guest->had_a_core()};
  give_result(slot);
}

bool GuestPool::take_frame(Slot& slot, std::string frame) {
  if (slot.phase == Phase::sending_plan) {
    slot.outcome.result = CapturedPlan{std::move(frame)};
    return false;
  }
  const auto json = parse_json(frame);
  if (!json || !json->is_object()) {
    slot.outcome.result = sandbox::CandidateFailure{
        .stage = Stage::inspected,
        .error = sandbox::error_of_end(sandbox::GuestEnd::false_frame, std::nullopt, limits_)};
    return false;
  }
  return slot.phase == Phase::greeting ? greet(slot, *json) : take_header(slot, *json);
}

bool GuestPool::greet(Slot& slot, const Json& hello) {
  JsonReader reader(hello);
  const std::string refused = reader.string("refused", "");
  if (!refused.empty()) {
    slot.outcome.result = sandbox::InfrastructureFault{sandbox::jail_refused(refused).message};
    return false;
  }
  slot.layers = reader.strings("held");
  slot.outcome.jail_layers = slot.layers;
  slot.outcome.stage_ms.emplace_back("fork", reader.number("fork_ms", 0));
  slot.outcome.stage_ms.emplace_back("jail", reader.number("jail_ms", 0));
  slot.guest->send(request_text(slot.job.request));
  slot.phase = Phase::capturing;
  return true;
}

bool GuestPool::take_header(Slot& slot, const Json& header) {
  JsonReader reader(header);
  const double most_ms = 1e3 * std::chrono::duration<double>(limits_.wall).count();
  slot.outcome.stage_ms.emplace_back("capture",
                                     std::clamp(reader.number("capture_ms", 0), 0.0, most_ms));
  if (reader.boolean("plan_follows", false)) {
    slot.phase = Phase::sending_plan;
    return true;
  }
  slot.outcome.result = sandbox::failure_from_guest(header, Stage::inspected);
  return false;
}

void GuestPool::give_result(Slot& slot) {
  const auto done = std::move(slot.job.done);
  done(std::move(slot.outcome));
}

void GuestPool::give_back(CaptureJob job, const Error& why) {
  if (++job.attempts < 2)
    queue_.push_front(std::move(job));
  else
    job.done({.result = sandbox::InfrastructureFault{why.message}});
}

bool GuestPool::exited(const sandbox::GuestExited& exited) {
  for (Slot& slot : slots_) {
    if (!slot.guest || slot.guest->id() != exited.id) continue;
    slot.guest->exited(exited);
    return true;
  }
  return false;
}

void GuestPool::lost_all(const Error& why) {
  for (Slot& slot : slots_) {
    if (slot.phase != Phase::free && slot.phase != Phase::waiting && slot.phase != Phase::over)
      give_back(std::move(slot.job), why);
    slot.guest.reset();
    slot.phase = Phase::free;
  }
}

void GuestPool::fail_all(const Error& why) {
  lost_all(why);
  while (!queue_.empty()) {
    CaptureJob job = std::move(queue_.front());
    queue_.pop_front();
    job.done({.result = sandbox::InfrastructureFault{why.message}});
  }
}

bool GuestPool::idle() const {
  return queue_.empty() && std::all_of(slots_.begin(), slots_.end(), [](const Slot& slot) {
           return slot.phase == Phase::free || slot.phase == Phase::waiting;
         });
}

void GuestPool::add_polls(std::vector<pollfd>& polls) const {
  for (const Slot& slot : slots_)
    if (slot.guest && slot.phase != Phase::over && slot.phase != Phase::late)
      slot.guest->add_polls(polls);
}

TimePoint GuestPool::next_deadline() const {
  TimePoint next = TimePoint::max();
  for (const Slot& slot : slots_) {
    if (!slot.guest || slot.phase == Phase::waiting) continue;
    const bool is_killed = slot.phase == Phase::over || slot.phase == Phase::late;
    next = std::min(next, is_killed ? slot.reaped_by.at() : slot.guest->deadline().at());
  }
  return next;
}

}  // namespace tritonsmith::gym::capture
