// ConversationResults: the results of some conversations about one task after a number of turns, at
// their last turn and at their best. These are the two values of test-time scaling for a user who
// wants one kernel. The functions are pure.
#pragma once

#include <optional>
#include <span>

#include "eval/metrics.h"

namespace tritonsmith::eval {

struct ConversationResults {
  int last = 0;  // conversations whose latest turn so far is accepted
  int best = 0;  // conversations with an accepted turn so far
  // The highest speed-up among these; absent without timing.
  std::optional<double> last_speedup, best_speedup;
};

// `turn` counts from 1. A conversation that has ended keeps its result.
ConversationResults results_after(int turn, std::span<const Conversation> conversations);

}  // namespace tritonsmith::eval
