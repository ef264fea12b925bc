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

// Whether forward leaves any arithmetic to torch.
bool computes_in_torch(const Plan& candidate);

// What trials without kernels and with watched ones showed: over all of them, until one speaks
// against.
struct Idleness {
  bool torch_computed = false;
  bool maybe_needless = true;  // the outputs were right without any kernel
  bool maybe_copies = true;    // kernels only passed on what torch had computed
};
std::vector<Finding> find_idle_work(const Plan& candidate, const Idleness& idle, Policy policy);

}  // namespace tritonsmith::gym
