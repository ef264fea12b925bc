#include "gym/judge/referee_pool.h"

#include "base/log.h"

namespace tritonsmith::gym::judge {
namespace {

Deadline deadline_at(TimePoint time) {
  return time == TimePoint::max() ? Deadline::never()
                                  : Deadline::after(time - system_clock().now());
}

}  // namespace

RefereePool::~RefereePool() { stop(); }  // and the members' destructors join the threads

// A referee process dies with the thread that started it, so each referee has its own thread.
void RefereePool::start(std::unique_ptr<RefereeClient> referee, Backend backend, int number,
                        api::DeviceUse use) {
  RefereeClient& mine = *referee;
  Device& device = device_of(use);
  {
    const std::lock_guard lock(mutex_);
    device.referees.push_back(std::move(referee));
  }
  threads_.emplace_back(
      [this, &queue = queue_of(backend), number, &device, &mine](const std::stop_token& stop) {
        serve(queue, number, device, mine, stop);
      });
}

RefereePool::Device& RefereePool::device_of(const api::DeviceUse& use) {
  const std::lock_guard lock(mutex_);
  for (Device& device : devices_)
    if (device.use.name == use.name && device.use.gpu == use.gpu) return device;
  devices_.emplace_back().use = use;
  return devices_.back();
}

void RefereePool::push(RefereeWork work) {
  RefereeQueue& queue = queue_of(work.backend);
  queue.push(std::move(work));
}

void RefereePool::stop() {
  for (std::jthread& thread : threads_) thread.request_stop();
  on_cpu_.close();
  on_gpus_.close();
  const std::lock_guard lock(mutex_);
  for (const Device& device : devices_)
    for (const auto& referee : device.referees) referee->interrupt();
}

// A GPU is calibrated before its first plan, and after each interval in which it ran some. A GPU
// that rests is not, but the verdicts before its rest are.
void RefereePool::serve(RefereeQueue& queue, int number, Device& device, RefereeClient& mine,
                        const std::stop_token& stop) {
  const std::string gpu = [&] {
    const std::lock_guard lock(mutex_);
    return device.use.gpu;
  }();
  const double interval = gpu.empty() ? 0 : calibration_seconds_;
  while (!stop.stop_requested()) {
    if (interval > 0) calibrate_if_due(device, mine, stop);
    auto work = queue.pop(number, deadline_at(device.due));
    if (stop.stop_requested()) return;
    if (!work) {
      if (queue.is_closed()) return;
      continue;
    }
    TimePoint rests = TimePoint::max();
    if (interval > 0)
      device.due.compare_exchange_strong(rests, Deadline::in_seconds(interval).at());
    const Stopwatch watch;
    RefereeOutcome outcome = mine.judge(work->job, work->task_plan);
    {
      const bool is_verdict =
          work->lint_key.empty() && std::holds_alternative<referee::RefereeReport>(outcome);
      const std::lock_guard lock(mutex_);
      device.use.busy_seconds += watch.seconds();
      device.use.verdicts += is_verdict ? 1 : 0;
    }
    on_answer_({.work = *std::move(work), .outcome = std::move(outcome), .gpu = gpu});
    mine.finish();
  }
}

void RefereePool::calibrate_if_due(Device& device, RefereeClient& referee,
                                   const std::stop_token& stop) {
  const std::lock_guard lock(device.calibrating);
  if (device.is_begun && system_clock().now() < device.due.load()) return;
  device.is_begun = true;
  calibrate(device, referee, stop);
  device.due = TimePoint::max();
}

// Without a measurement nothing is known: the GPU judges on, and the next interval tries again.
void RefereePool::calibrate(Device& device, RefereeClient& referee, const std::stop_token& stop) {
  const TimePoint start = system_clock().now();
  const auto measured = referee.calibrate();
  const std::lock_guard lock(mutex_);
  if (!measured) {
    if (!stop.stop_requested())
      LOG("gym: {} is not calibrated: {}", device.use.name, measured.error().message);
    return;
  }
  ++device.use.calibrations;
  device.use.calibration = *measured;
  device.use.calibrated = start;
}

std::vector<api::DeviceUse> RefereePool::devices() const {
  const std::lock_guard lock(mutex_);
  std::vector<api::DeviceUse> devices;
  for (const Device& device : devices_) {
    devices.push_back(device.use);
    for (const auto& referee : device.referees)
      devices.back().restarts += static_cast<std::uint64_t>(referee->restarts());
  }
  return devices;
}

}  // namespace tritonsmith::gym::judge
