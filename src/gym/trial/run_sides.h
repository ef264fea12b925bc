// The second phase of a trial: runs the candidate on poisoned memory, then the reference. The
// candidate goes first, while no expected output exists anywhere.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "gym/trial/prepare.h"

namespace tritonsmith::gym::trial {

struct CandidateRun {
  std::optional<replay::Stop> stop;
  replay::LaunchTraces launches;
  std::vector<Finding> findings;
  bool only_copied = false;  // each watched launch only passed on values that it was given
  double milliseconds = 0;
};

struct ReferenceRun {
  std::optional<replay::Stop> stop;
  bool refused = false;  // forward's plan does not replay
  double milliseconds = 0;
};

struct SideResults {
  CandidateRun candidate;
  ReferenceRun reference;  // empty if the reference was not run
  // The candidate broke the GPU's context, and nothing ran after it.
  bool is_device_lost = false;
  // The tensors that the reference finds, widened to float64. There are none without an oracle, or
  // if the device computes the oracle in one kernel.
  std::optional<tensors::TensorTable> oracle_inputs;
  std::vector<SavedState> reference_state;  // with StateKeeping::saved
};

SideResults run_sides(Sides& sides, PreparedSides& prepared);

// run_candidate() also fills in what the device remembered of the candidate's inputs.
// run_reference() may return while the reference is still under way on a GPU, if a fused oracle
// compares at once.
CandidateRun run_candidate(Sides& sides, std::span<SharedTensor> shared);
ReferenceRun run_reference(Sides& sides);

// Add the facts that these runs show to the result of the trial. They move the run's data into it.
void take_candidate_run(TrialResult& result, CandidateRun run);
void take_reference_run(TrialResult& result, ReferenceRun run);

}  // namespace tritonsmith::gym::trial
