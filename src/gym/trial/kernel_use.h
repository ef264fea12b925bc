// What a candidate's plan shows about who did the work: which operators its forward left to torch,
// whether its own kernels were launched and feed the output, whether the output depends on the
// inputs. Facts of the plan and of one replay of it, judged by the policy; no values are looked at.
#pragma once

#include <map>
#include <vector>

#include "data/verdict.h"
#include "gym/plan/plan.h"
#include "gym/replay/launch_trace.h"

namespace tritonsmith::gym::trial {

// Without launches (the candidate's forward did not come to its end) only what the plan alone
// shows.
std::vector<Finding> find_evidence(const plan::Plan& candidate,
                                   const replay::LaunchTraces* launches,
                                   const plan::Plan& reference, Policy policy);

// For who sees only what comes of a launch: atomics of one program's scope in one of several
// programs. What they do there is chance, and whether two programs meet nobody looks.
std::vector<Finding> find_narrow_atomics(const plan::Plan& candidate);

// Whether a kernel reads this input, or what follows from it.
bool kernels_read(const plan::Plan& candidate, const replay::LaunchTraces& launches, int input);

// Whether forward leaves any arithmetic to torch.
bool computes_in_torch(const plan::Plan& candidate);

// What trials say of one suspicion: it stands until one speaks against it, and is worth a finding
// once one speaks for it. Many may do neither (coincidence.h).
struct Suspicion {
  bool stands = true;
  bool shown = false;
  void hear(bool found, bool by_chance) {
    stands = stands && found;
    shown = shown || (found && !by_chance);
  }
  bool is_open() const { return stands && !shown; }
  bool holds() const { return stands && shown; }
};

// What trials without kernels and with watched ones showed.
struct KernelUse {
  bool torch_computed = false;
  Suspicion needless;  // the outputs were right without any kernel
  Suspicion copies;    // kernels only passed on what torch had computed
};
std::vector<Finding> find_idle_work(const plan::Plan& candidate, const KernelUse& idle,
                                    Policy policy);

}  // namespace tritonsmith::gym::trial
