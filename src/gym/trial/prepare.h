// The first phase of a trial: draws inputs and weights from the trial's secret seeds, perturbs
// them, gives the candidate copies of its own, and remembers what both sides hold. No forward has
// run yet. Drawing is the task's own work. A candidate whose constructor fails ends the trial here.
#pragma once

#include <span>
#include <vector>

#include "gym/trial/found_state.h"
#include "gym/trial/shared_tensors.h"
#include "gym/trial/sides.h"
#include "gym/trial/trial_result.h"

namespace tritonsmith::gym::trial {

// The two sides before forward.
struct PreparedSides {
  std::vector<SharedTensor> shared;
  std::vector<UnmatchedWeight> unmatched;
  std::vector<OwnState> own_state;
  WatchedState watched;                     // with StateKeeping::watched
  std::vector<SavedState> candidate_state;  // with StateKeeping::saved
  double draw_ms = 0;
};

// Makes the task's weights and inputs, and changes draws on the way.
std::optional<replay::Stop> draw_task(Sides& sides);

// If the trial ends here, the unexpected value is its result.
tl::expected<PreparedSides, TrialResult> prepare(Sides& sides);

// Perturbs the drawn inputs, gives the candidate copies of them, and adds these to `shared`.
// Returns a stop of the candidate if its plan declares other inputs.
std::optional<replay::Stop> share_inputs(Sides& sides, std::vector<SharedTensor>& shared);

// Remembers what the reference's shared tensors hold, unless the device has done so already.
void remember_shared(const Sides& sides, std::span<SharedTensor> shared);

}  // namespace tritonsmith::gym::trial
