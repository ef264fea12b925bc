// Reached: what some conversations about one task had come to after so many turns, at their last
// turn and at their best: the two values of test-time scaling for whoever wants one kernel. Pure.
#pragma once

#include <optional>
#include <span>

#include "eval/metrics.h"

namespace tritonsmith::eval {

struct Reached {
  int last = 0;  // conversations whose latest turn until then is accepted
  int best = 0;  // those with any accepted turn until then
  // Of the fastest among these; nothing where none was timed.
  std::optional<double> last_speedup, best_speedup;
};

// `turn` from 1. A conversation that ended before keeps what it had.
Reached reached_after(int turn, std::span<const Conversation> conversations);

}  // namespace tritonsmith::eval
