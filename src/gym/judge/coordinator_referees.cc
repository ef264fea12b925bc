// The threads of a Coordinator's referees, and the counts of each referee's work.
#include "gym/judge/coordinator.h"

namespace tritonsmith::gym::judge {

JudgeVersions Coordinator::versions() const {
  const std::lock_guard lock(versions_mutex_);
  return versions_;
}

// A referee process dies with the thread that started it, so each referee has its own thread.
void Coordinator::start_referee(std::unique_ptr<RefereeClient> referee, RefereeQueue& queue,
                                int number, std::string device) {
  std::size_t place = 0;
  {
    const std::lock_guard lock(devices_mutex_);
    place = devices_.size();
    devices_.push_back({.name = std::move(device)});
    referees_.push_back(std::move(referee));
  }
  referee_threads_.emplace_back(
      [this, &queue, number, place, mine = referees_.back().get()](const std::stop_token& stop) {
        while (auto work = queue.pop(number)) {
          if (stop.stop_requested()) return;
          const Stopwatch watch;
          RefereeOutcome outcome = mine->judge(work->job, work->task_plan);
          {
            const bool is_verdict =
                work->lint_key.empty() && std::holds_alternative<referee::RefereeReport>(outcome);
            const std::lock_guard lock(devices_mutex_);
            devices_[place].busy_seconds += watch.seconds();
            devices_[place].verdicts += is_verdict ? 1 : 0;
          }
          events_.push(Refereed{*std::move(work), std::move(outcome)});
        }
      });
}

std::vector<api::DeviceUse> Coordinator::devices() const {
  const std::lock_guard lock(devices_mutex_);
  std::vector<api::DeviceUse> devices = devices_;
  for (std::size_t k = 0; k < devices.size(); ++k)
    devices[k].restarts = static_cast<std::uint64_t>(referees_[k]->restarts());
  return devices;
}

}  // namespace tritonsmith::gym::judge
