// From a step's judged turns to the batch that is trained on: a trajectory whose turns continue
// each other becomes one sequence with a segment a turn, what stands between them is context. A
// turn that saw another context (management left turns out) begins a sequence of its own.
// Token-exact: nothing is tokenised anew. Pure.
#pragma once

#include "train/policy_gradient.h"
#include "train/rollout_step.h"

namespace tritonsmith::train {

// A segment for each turn, in their order; advantages, old, reference and mismatch are still empty,
// and every segment counts.
PolicyBatch policy_batch(std::span<const JudgedSample> turns);

}  // namespace tritonsmith::train
