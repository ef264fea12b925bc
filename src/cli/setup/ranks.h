// Joins the processes of a training job, if a launcher started several (docs/several-gpus.md).
#pragma once

#include <functional>

#include "distributed/join.h"

namespace tritonsmith::cli {

// Joins them, runs `body`, and tells them how it ended. Each process takes its own GPU and its part
// of the cores. All but the first are quiet. Call it before any use of a GPU.
using OnRanks = std::function<Status(distributed::Ranks&, const distributed::LaunchInfo&)>;
Status with_ranks(const OnRanks& body);

}  // namespace tritonsmith::cli
