// StepTimes: times each step of the candidate by itself. It picks the fastest config of each
// tuned launch, as the autotuner would. It also computes the share of the time that the
// candidate's own kernels take.
#pragma once

#include <functional>
#include <map>
#include <vector>

#include "gym/referee/protocol/referee_job.h"
#include "gym/timing/timed_run.h"

namespace tritonsmith::gym::timing {

class StepTimes {
 public:
  StepTimes(device::CudaDevice& device, TimedSide& candidate, TimedRun& timed)
      : device_(device), candidate_(candidate), timed_(timed) {}

  // Tries the configs of all tuned launches until the deadline and keeps the fastest of each.
  std::optional<replay::Stop> choose_configs(Deadline deadline);
  replay::Choices picked() const;
  // Adds the steps and the coverage to `timing`. If the candidate has a single launch, that step
  // takes `forward_ms`, the median of forward in milliseconds.
  std::optional<replay::Stop> add_to(referee::PlanTiming& timing, double forward_ms);

 private:
  // Measures the microseconds of each step, as the median of a few rounds.
  std::optional<replay::Stop> profile(std::vector<double>& step_us);
  const plan::LaunchStep* launch_at(std::size_t k) const;
  void set_choices(const std::function<int(std::size_t)>& choice);
  referee::StepTiming& entry_of(std::size_t k, referee::PlanTiming& timing);

  device::CudaDevice& device_;
  TimedSide& candidate_;
  TimedRun& timed_;
  std::map<std::size_t, int> chosen_;  // by position among the candidate's steps
};

}  // namespace tritonsmith::gym::timing
