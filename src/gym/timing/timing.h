// Timing a candidate that has proved right, against its reference, on a GPU: rounds of both, one
// after the other (round_plan.h), until the medians are known to one percent or the time is up. Of
// short kernels two rounds make a sample. Before each round of the candidate its unwritten memory
// is poisoned, what it changed is put back, and the L2 cache is filled with other things; after
// each its outputs are checked. The reference runs on inputs of its own, and what it made of the
// candidate's is overwritten, so that the outputs which the candidate owes are nowhere on the
// device. Last the candidate meets new inputs: there it must be right, and about as fast as in the
// rounds; else it used again what an earlier round left where nobody looked.
#pragma once

#include <optional>
#include <vector>

#include "gym/device/cuda_device.h"
#include "gym/language/triton/cuda_executor.h"
#include "gym/referee/protocol/referee_job.h"
#include "gym/trial/trial.h"

namespace tritonsmith::gym::timing {

// One round as it was measured, for who looks into their noise.
struct TimedRound {
  double candidate_ms = 0;
  bool is_first = false;        // of those that were queued together
  bool with_reference = false;  // which ran behind it
};

struct TimingLimits {
  double share = 0.01;  // of the median: how near both ends of its interval shall be
  double seconds = 2;   // for all rounds
  int least_rounds = 0, most_rounds = 400;
  // What the reference took in earlier jobs, and takes now besides: where both agree, the reference
  // need not be measured as long once more.
  std::vector<double>* known_reference = nullptr;
  std::vector<TimedRound>* rounds = nullptr;  // all that count are added
};

struct TimingOutcome {
  std::optional<replay::Stop> stop;  // a round failed, or gave another output
  std::optional<referee::PlanTiming> timing;
  std::vector<Finding> findings;  // a time that the chip cannot reach, or only by what was left
  double set_up_ms = 0;           // before the first round
  replay::Choices picked;         // of tuned launches
};

// `trial` has run and found the candidate right, and its state was watched and not changed, or
// saved.
TimingOutcome time_trial(trial::Trial& trial, device::CudaDevice& device,
                         const TimingLimits& limits);

}  // namespace tritonsmith::gym::timing
