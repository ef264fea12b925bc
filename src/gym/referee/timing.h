// Timing a candidate that has proved right, against its reference, on a GPU: rounds of both, one
// after the other, until the medians are known to one percent or the time is up. Before each round
// of the candidate its unwritten memory is poisoned, what it changed is put back, and the L2 cache
// is filled with other things; after each its outputs are checked. The reference runs on inputs of
// its own, so that the outputs which the candidate owes are nowhere on the device.
#pragma once

#include <optional>
#include <vector>

#include "gym/gpu/cuda_executor.h"
#include "gym/referee/gpu_place.h"
#include "gym/referee/protocol/referee_job.h"
#include "gym/referee/trial.h"

namespace tritonsmith::gym {

struct TimingLimits {
  double share = 0.01;  // of the median: how near both ends of its interval shall be
  double seconds = 2;   // for all rounds
  int most_rounds = 400;
  // What the reference took in earlier jobs, and takes now besides: where both agree, the reference
  // need not be measured as long once more.
  std::vector<double>* known_reference = nullptr;
};

struct TimingOutcome {
  std::optional<Stop> stop;  // a round failed, or gave another output
  std::optional<PlanTiming> timing;
  std::vector<Finding> findings;  // a time that the chip cannot reach
  double set_up_ms = 0;           // before the first round
};

// `trial` has run and found the candidate right, and its state was watched and not changed, or
// saved.
TimingOutcome time_trial(Trial& trial, GpuPlace& place, const TimingLimits& limits);

}  // namespace tritonsmith::gym
