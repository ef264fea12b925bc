// Joins the experience that the ranks of a job sampled and had judged, each its own share of a
// step. Every rank then scores and compares the whole, with the same result. The format is CBOR,
// which keeps every number and every byte.
#pragma once

#include "distributed/ranks.h"
#include "train/experience/rollout_step.h"

namespace tritonsmith::train {

std::string to_bytes(const Experience& experience);
Result<Experience> experience_from_bytes(std::string_view bytes);

// Returns the samples of all ranks in the order of the ranks. Seconds are those of the slowest
// rank. The activity and the spans are those of this rank.
Result<Experience> experience_of_all(Experience mine, distributed::Ranks& ranks);

}  // namespace tritonsmith::train
