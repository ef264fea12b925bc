// The other processes of a training job, where a launcher started several (docs/several-gpus.md).
#pragma once

#include <functional>

#include "distributed/join.h"

namespace tritonsmith::cli {

// Joins them, runs `body`, and tells them how it ended. Each process takes its own GPU and its part
// of the cores; all but the first are quiet. Before anything that touches a GPU.
using OnRanks = std::function<Status(distributed::Ranks&, const distributed::Place&)>;
Status with_ranks(const OnRanks& body);

}  // namespace tritonsmith::cli
