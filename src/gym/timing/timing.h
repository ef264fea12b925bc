// Times a candidate that has proved right, against its reference, on a GPU. Rounds of both run one
// after the other (round_schedule.h), until the medians are known to one percent or the time is up.
// Two rounds of a short kernel make a sample.
//
// Before each round of the candidate, its unwritten memory is poisoned, the state that it changed
// is restored, and the L2 cache is flushed. After each round its outputs are checked. The reference
// runs on inputs of its own. Its results for the candidate's inputs are overwritten, so that the
// outputs that the candidate must compute are nowhere on the device.
//
// Last, the candidate gets new inputs. It must be right on them, and about as fast as in the
// rounds. Otherwise it uses results that an earlier round left.
#pragma once

#include <optional>
#include <vector>

#include "gym/cuda/nvml.h"
#include "gym/device/cuda_device.h"
#include "gym/referee/protocol/referee_job.h"
#include "gym/trial/trial.h"

namespace tritonsmith::gym::timing {

// One round as it was measured. Benchmarks of the noise read these.
struct TimedRound {
  double candidate_ms = 0;
  bool is_first = false;        // the first of the rounds that were queued together
  bool with_reference = false;  // the reference ran behind the candidate
};

struct TimingLimits {
  double share = 0.01;  // how near to the median both ends of its interval must be
  double seconds = 2;   // the time for all rounds
  int least_rounds = 0, most_rounds = 400;
  // Milliseconds that the reference took in earlier jobs. This job's times are added. Where both
  // agree, the reference needs fewer rounds in this job.
  std::vector<double>* known_reference = nullptr;
  std::vector<TimedRound>* rounds = nullptr;  // receives all rounds that count
  const cuda::ClockMeter* clocks = nullptr;   // null: the clocks stay unknown
};

struct TimingOutcome {
  std::optional<replay::Stop> stop;  // a round failed, or gave another output
  std::optional<referee::PlanTiming> timing;
  std::vector<Finding> findings;  // the GPU cannot reach this time, or rounds used earlier results
  double set_up_ms = 0;           // the time before the first round
  replay::Choices picked;         // the configs of tuned launches
};

// The trial must have found the candidate right. Its state was saved, or it was watched and did not
// change. The timing changes the trial's tensors and takes its saved state.
TimingOutcome time_trial(trial::FinishedTrial& trial, device::CudaDevice& device,
                         const TimingLimits& limits);

}  // namespace tritonsmith::gym::timing
