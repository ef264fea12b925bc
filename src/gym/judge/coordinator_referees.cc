// The threads of a Coordinator's referees, and the counts of each referee's work.
#include "base/log.h"
#include "gym/judge/coordinator.h"

namespace tritonsmith::gym::judge {

JudgeVersions Coordinator::versions() const {
  const std::lock_guard lock(versions_mutex_);
  return versions_;
}

void Coordinator::start_referees() {
  for (int k = 0; k < config_.referees; ++k)
    start_referee(parts_.make_referee(), referee_work_, k, {.name = fmt::format("cpu:{}", k)});
  for (int number = 0; number < std::ssize(parts_.gpus); ++number) {
    const ReplayGpu& gpu = parts_.gpus.at(static_cast<std::size_t>(number));
    start_referee(parts_.make_replay_referee(number), replay_work_, number,
                  {.name = fmt::format("cuda:{}", gpu.ordinal), .gpu = gpu.uuid});
  }
}

// A referee process dies with the thread that started it, so each referee has its own thread.
void Coordinator::start_referee(std::unique_ptr<RefereeClient> referee, RefereeQueue& queue,
                                int number, api::DeviceUse device) {
  std::size_t place = 0;
  {
    const std::lock_guard lock(devices_mutex_);
    place = devices_.size();
    devices_.push_back(std::move(device));
    referees_.push_back(std::move(referee));
  }
  referee_threads_.emplace_back([this, &queue, number, place](const std::stop_token& stop) {
    serve_queue(queue, number, place, stop);
  });
}

// A GPU is calibrated before its first plan, and after each interval in which it ran some. A GPU
// that rests is not, but the verdicts before its rest are.
void Coordinator::serve_queue(RefereeQueue& queue, int number, std::size_t place,
                              const std::stop_token& stop) {
  RefereeClient* mine = nullptr;
  std::string gpu;
  {
    const std::lock_guard lock(devices_mutex_);
    mine = referees_[place].get();
    gpu = devices_[place].gpu;
  }
  const double interval = gpu.empty() ? 0 : config_.calibration_seconds;
  if (interval > 0) calibrate(place, *mine);
  Deadline due = Deadline::never();
  while (!stop.stop_requested()) {
    if (due.passed()) {
      calibrate(place, *mine);
      due = Deadline::never();
    }
    auto work = queue.pop(number, due);
    if (stop.stop_requested()) return;
    if (!work) {
      if (queue.is_closed()) return;
      continue;
    }
    if (interval > 0 && due.at() == TimePoint::max()) due = Deadline::in_seconds(interval);
    const Stopwatch watch;
    RefereeOutcome outcome = mine->judge(work->job, work->task_plan);
    {
      const bool is_verdict =
          work->lint_key.empty() && std::holds_alternative<referee::RefereeReport>(outcome);
      const std::lock_guard lock(devices_mutex_);
      devices_[place].busy_seconds += watch.seconds();
      devices_[place].verdicts += is_verdict ? 1 : 0;
    }
    events_.push(Refereed{*std::move(work), std::move(outcome), gpu});
  }
}

// Without a measurement nothing is known: the GPU judges on, and the next interval tries again.
void Coordinator::calibrate(std::size_t place, RefereeClient& referee) {
  const TimePoint start = system_clock().now();
  const auto measured = referee.calibrate();
  const std::lock_guard lock(devices_mutex_);
  api::DeviceUse& device = devices_[place];
  if (!measured) {
    if (!stopping_) LOG("gym: {} is not calibrated: {}", device.name, measured.error().message);
    return;
  }
  ++device.calibrations;
  device.calibration = *measured;
  device.calibrated = start;
}

std::vector<api::DeviceUse> Coordinator::devices() const {
  const std::lock_guard lock(devices_mutex_);
  std::vector<api::DeviceUse> devices = devices_;
  for (std::size_t k = 0; k < devices.size(); ++k)
    devices[k].restarts = static_cast<std::uint64_t>(referees_[k]->restarts());
  return devices;
}

}  // namespace tritonsmith::gym::judge
