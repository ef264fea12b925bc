// What the ranks of a job sampled and had judged, each its own share of a step's samples, put
// together: every rank then scores and compares the whole, and comes to the same result. In CBOR,
// which keeps every number and every byte.
#pragma once

#include "distributed/ranks.h"
#include "train/rollout_step.h"

namespace tritonsmith::train {

std::string to_bytes(const Experience& experience);
Result<Experience> experience_from_bytes(std::string_view bytes);

// The samples of all ranks, in the order of the ranks; seconds are those of the slowest. What was
// going on when (activity, spans) is this rank's own.
Result<Experience> experience_of_all(Experience mine, distributed::Ranks& ranks);

}  // namespace tritonsmith::train
