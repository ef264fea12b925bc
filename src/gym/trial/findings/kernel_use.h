// Finds evidence of which code did the work of a candidate's plan: which operators its forward
// left to PyTorch, whether its own kernels ran and feed the output, and whether the output depends
// on the inputs. These are facts of the plan and of one replay of it, judged by the policy. No
// values are read.
#pragma once

#include <algorithm>
#include <map>
#include <optional>
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

// Says whether the programs of a launch in forward may see each other's stores: the launch has
// several programs and may load from memory in which it may store.
bool programs_may_meet(const plan::Plan& candidate);

// Says whether the lanes of a program may see each other's stores: a launch of forward may load from
// memory in which it may store, and its programs have several warps.
bool lanes_may_meet(const plan::Plan& candidate);

// Says whether a kernel of forward may have an atomic.
bool has_atomics(const plan::Plan& candidate);

// Says whether the step is a launch of forward with several configs of an autotuner that resets and
// restores nothing, and may load from memory in which it may store.
bool builds_on_its_stores(const plan::Plan& candidate, const plan::PlanStep& step);

// Says whether a kernel reads this input, or values that follow from it.
bool kernels_read(const plan::Plan& candidate, const replay::LaunchTraces& launches, int input);

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
  // PyTorch did work in forward that a kernel could pass on as its own.
  bool torch_computed = false;
  Suspicion needless;  // the outputs were right without any kernel
  Suspicion copies;    // kernels only passed on what PyTorch had computed
  // The largest share of output elements, of those that the reference changes, that were wrong
  // without kernels in one trial. Negative: no trial measured it.
  double needed_share = -1;
  void note_share(std::optional<double> share) {
    if (share) needed_share = std::max(needed_share, *share);
  }
  // Says whether kernels have done so little until now that the next trial should look again.
  bool does_little() const { return needed_share >= 0 && needed_share < kLeastShare; }
  // Kernels that work in place may leave most elements as they are in one trial, but not in all.
  static constexpr double kLeastShare = 1.0 / 16;
};
std::vector<Finding> find_unused_kernels(const plan::Plan& candidate, const KernelUse& use);

}  // namespace tritonsmith::gym::trial
