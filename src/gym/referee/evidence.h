// What a candidate's plan shows about who did the work: which operators its forward left to torch,
// whether its own kernels were launched and feed the output, whether the output depends on the
// inputs. Facts of the plan and of one replay of it, judged by the policy; no values are looked at.
#pragma once

#include <map>
#include <vector>

#include "gym/plan/plan.h"
#include "gym/referee/protocol/referee_job.h"
#include "gym/referee/replay.h"

namespace tritonsmith::gym {

// Launches by index of their step, as Replay::launches() has them.
using LaunchTraces = std::map<std::size_t, LaunchTrace>;

// Without launches (the candidate's forward did not come to its end) only what the plan alone
// shows.
std::vector<Finding> find_evidence(const Plan& candidate, const LaunchTraces* launches,
                                   const Plan& reference, Policy policy);

}  // namespace tritonsmith::gym
