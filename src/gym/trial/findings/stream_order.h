// Finds work of a candidate on one stream that uses memory on which another stream may still work.
// A replay runs all steps on one stream, in the order in which Python gave them, so no trial shows
// such a race. The plan does: it holds what each step reads and writes, and which stream waits for
// which event. No values are read.
#pragma once

#include <optional>
#include <vector>

#include "data/verdict.h"
#include "gym/plan/plan.h"

namespace tritonsmith::gym::trial {

// Two steps that use the same memory, and whose order no stream and no event fixes. They may use
// different parts of the memory.
struct SuspectedRace {
  VerdictError error;      // of class `race`, with the line of the later step
  std::vector<int> order;  // all steps of the plan in another order that the streams allow
  bool operator==(const SuspectedRace&) const = default;
};

struct StreamRaces {
  // A race that does not depend on what the kernels do. One side of it is the caller's own work, or
  // uses an operator's result. The caller writes the inputs before forward and reads the outputs
  // after it, on the stream that is current at that time. The constructor has finished before.
  std::optional<VerdictError> certain;
  std::vector<SuspectedRace> suspected;  // at most kMostSuspects, each with another order
};

inline constexpr std::size_t kMostSuspects = 8;

StreamRaces find_stream_races(const plan::Plan& candidate);

// Returns the plan with its steps in this order and on one stream.
plan::Plan in_step_order(plan::Plan candidate, const std::vector<int>& order);

}  // namespace tritonsmith::gym::trial
