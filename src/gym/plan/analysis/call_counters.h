// Finds the buffers in which a task counts the calls of its forward. What forward computes may depend on
// the count: a bias correction, a warm-up, a cache of some slots. Two calls alone would not show that.
// The functions are pure.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "gym/plan/plan.h"

namespace tritonsmith::gym::plan::analysis {

// A buffer of one number, to which each call of forward adds `step`.
struct CallCounter {
  std::string name;
  int tensor = 0;
  std::int64_t step = 0;
  std::int64_t modulus = 0;  // after each step the remainder of this division is kept; 0: all of it
  bool operator==(const CallCounter&) const = default;
};

// Returns the task's counters, or none if the plan holds for their first values only. All of them count
// the same calls. So there are none either if forward changes another buffer of whole numbers or truth
// values, which may have to fit them. What a batch norm counts is left out, since no output depends on it.
std::vector<CallCounter> call_counters(const Plan& task);

// Returns the counters of the batch norms without a momentum, which average over all calls. Python reads
// such a counter, so the plan has the number that follows from it: after_calls() gives it another one.
std::vector<CallCounter> counters_of_averages(const Plan& task);
Plan after_calls(Plan task, const std::vector<CallCounter>& of_averages, std::int64_t calls);

// Returns numbers of calls after which forward may do otherwise, in order: those where a counter comes
// beside a number that forward compares it with, divides it by or clamps it at, or beside a size that it
// is compared with.
std::vector<std::int64_t> telling_calls(const Plan& task, const std::vector<CallCounter>& counters);

// Returns the largest number of calls after which each counter's type still holds its number exactly.
std::int64_t most_calls(const Plan& task, const std::vector<CallCounter>& counters);

}  // namespace tritonsmith::gym::plan::analysis
