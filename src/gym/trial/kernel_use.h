// Finds evidence of which code did the work of a candidate's plan: which operators its forward
// left to PyTorch, whether its own kernels ran and feed the output, and whether the output depends
// on the inputs. These are facts of the plan and of one replay of it, judged by the policy. No
// values are read.
#pragma once

#include <map>
#include <vector>

#include "data/verdict.h"
#include "gym/plan/plan.h"
#include "gym/replay/launch_trace.h"

namespace tritonsmith::gym::trial {

// `launches` is null if the candidate's forward did not finish. The findings are then those that
// the plan alone shows.
std::vector<Finding> find_evidence(const plan::Plan& candidate,
                                   const replay::LaunchTraces* launches,
                                   const plan::Plan& reference, Policy policy);

// Finds atomic operations with the scope of one program in a launch of several programs. On a
// GPU their effect is random. A trial may not show it, because two programs need not meet at
// the same address.
std::vector<Finding> find_narrow_atomics(const plan::Plan& candidate);

// Says whether a kernel reads this input, or values that follow from it.
bool kernels_read(const plan::Plan& candidate, const replay::LaunchTraces& launches, int input);

// Says whether forward leaves any arithmetic to PyTorch.
bool computes_in_torch(const plan::Plan& candidate);

// A suspicion about a candidate's kernels, over several trials. It stands until one trial speaks
// against it, and becomes a finding once one trial proves it. Inconclusive trials prove nothing
// (unchanged_values.h).
struct Suspicion {
  bool stands = true;
  bool shown = false;
  void note(bool found, bool is_inconclusive) {
    stands = stands && found;
    shown = shown || (found && !is_inconclusive);
  }
  bool is_open() const { return stands && !shown; }
  bool holds() const { return stands && shown; }
};

// The results of trials without kernels, and of trials that watch kernels.
struct KernelUse {
  bool torch_computed = false;
  Suspicion needless;  // the outputs were right without any kernel
  Suspicion copies;    // kernels only passed on what PyTorch had computed
};
std::vector<Finding> find_unused_kernels(const plan::Plan& candidate, const KernelUse& use,
                                         Policy policy);

}  // namespace tritonsmith::gym::trial
