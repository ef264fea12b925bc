#include "gym/judge/referee_pool.h"

#include "base/log.h"

namespace tritonsmith::gym::judge {

RefereePool::~RefereePool() { stop(); }  // and the members' destructors join the threads

// A referee process dies with the thread that started it, so each referee has its own thread.
void RefereePool::start(std::unique_ptr<RefereeClient> referee, Backend backend, int number,
                        api::DeviceUse device) {
  std::size_t index = 0;
  {
    const std::lock_guard lock(mutex_);
    index = devices_.size();
    devices_.push_back(std::move(device));
    referees_.push_back(std::move(referee));
  }
  threads_.emplace_back([this, &queue = queue_of(backend), number, index](
                            const std::stop_token& stop) { serve(queue, number, index, stop); });
}

void RefereePool::push(RefereeWork work) {
  RefereeQueue& queue = queue_of(work.backend);
  queue.push(std::move(work));
}

void RefereePool::stop() {
  for (std::jthread& thread : threads_) thread.request_stop();
  on_cpu_.close();
  on_gpus_.close();
  for (const auto& referee : referees_) referee->interrupt();
}

// A GPU is calibrated before its first plan, and after each interval in which it ran some. A GPU
// that rests is not, but the verdicts before its rest are.
void RefereePool::serve(RefereeQueue& queue, int number, std::size_t index,
                        const std::stop_token& stop) {
  RefereeClient* mine = nullptr;
  std::string gpu;
  {
    const std::lock_guard lock(mutex_);
    mine = referees_[index].get();
    gpu = devices_[index].gpu;
  }
  const double interval = gpu.empty() ? 0 : calibration_seconds_;
  if (interval > 0) calibrate(index, *mine, stop);
  Deadline due = Deadline::never();
  while (!stop.stop_requested()) {
    if (due.passed()) {
      calibrate(index, *mine, stop);
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
      const std::lock_guard lock(mutex_);
      devices_[index].busy_seconds += watch.seconds();
      devices_[index].verdicts += is_verdict ? 1 : 0;
    }
    on_answer_({.work = *std::move(work), .outcome = std::move(outcome), .gpu = gpu});
  }
}

// Without a measurement nothing is known: the GPU judges on, and the next interval tries again.
void RefereePool::calibrate(std::size_t index, RefereeClient& referee,
                            const std::stop_token& stop) {
  const TimePoint start = system_clock().now();
  const auto measured = referee.calibrate();
  const std::lock_guard lock(mutex_);
  api::DeviceUse& device = devices_[index];
  if (!measured) {
    if (!stop.stop_requested())
      LOG("gym: {} is not calibrated: {}", device.name, measured.error().message);
    return;
  }
  ++device.calibrations;
  device.calibration = *measured;
  device.calibrated = start;
}

std::vector<api::DeviceUse> RefereePool::devices() const {
  const std::lock_guard lock(mutex_);
  std::vector<api::DeviceUse> devices = devices_;
  for (std::size_t k = 0; k < devices.size(); ++k)
    devices[k].restarts = static_cast<std::uint64_t>(referees_[k]->restarts());
  return devices;
}

}  // namespace tritonsmith::gym::judge
