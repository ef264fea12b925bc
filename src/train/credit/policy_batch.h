// Converts a step's judged turns into the batch to train on. A trajectory whose turns continue each
// other becomes one sequence with a segment for each turn; the text between them is context. A turn
// that saw another context (some turns were left out) begins its own sequence. The tokens are those
// that were sampled; no text is tokenized again. The function is pure.
#pragma once

#include "train/experience/rollout_step.h"
#include "train/gradient/policy_gradient.h"

namespace tritonsmith::train {

// Makes a segment for each turn, in order. Every segment counts. Advantages, old, reference and
// mismatch are still empty.
PolicyBatch policy_batch(std::span<const JudgedSample> turns);

}  // namespace tritonsmith::train
